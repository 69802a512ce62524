// Compiles SPIR-V for an AMD GPU, with Mesa's driver and without the GPU: amd LIST, with a line "FILE ENTRY_POINT" for
// each shader. Prints "FILE: what is wrong" for each that is rejected or has registers spilled, then for each entry
// point what its shaders take at most, at the end "COUNT compiled, COUNT rejected", and exits with 1 if one was.
#include <stdio.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { BINDINGS = 8, MAX_ENTRY_POINTS = 64 };

typedef struct {
    char name[64];
    unsigned long long shaders, registers, instructions, waves;
} EntryPoint;

static VkDevice device;
static PFN_vkGetPipelineExecutableStatisticsKHR statistics;
static EntryPoint entry_points[MAX_ENTRY_POINTS];

static const char *make_device(void) {
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    VkPhysicalDevice gpu;
    uint32_t count = 1;
    if (vkCreateInstance(&instance_info, NULL, &instance) || vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || !count) {
        return "no adapter";
    }
    static VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu, &properties);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, .pipelineExecutableInfo = VK_TRUE};
    // As wgpu has it: a read behind the end is nobody's.
    VkPhysicalDeviceFeatures features = {.robustBufferAccess = VK_TRUE};
    const char *extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
    VkDeviceCreateInfo device_info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .pNext = &executable,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue,
                                      .enabledExtensionCount = 1,
                                      .ppEnabledExtensionNames = &extension,
                                      .pEnabledFeatures = &features};
    if (vkCreateDevice(gpu, &device_info, NULL, &device)) {
        return "no device";
    }
    statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(
        device, "vkGetPipelineExecutableStatisticsKHR");
    printf("%s\n", properties.deviceName);
    return NULL;
}

// Bindings are counted up, with the window first; count_rows alone has storage for it.
static VkPipelineLayout make_layout(int has_window) {
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    for (uint32_t binding = 0; binding < BINDINGS; binding++) {
        bindings[binding] = (VkDescriptorSetLayoutBinding){
            binding,
            has_window && !binding ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    }
    VkDescriptorSetLayoutCreateInfo set_info = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = BINDINGS, .pBindings = bindings};
    VkDescriptorSetLayout set;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    if (!vkCreateDescriptorSetLayout(device, &set_info, NULL, &set)) {
        VkPipelineLayoutCreateInfo info = {
            VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set};
        vkCreatePipelineLayout(device, &info, NULL, &layout);
    }
    return layout;
}

// Adds up what the shader takes. Returns how many registers are spilled.
static unsigned long long look_at(VkPipeline pipeline, const char *name) {
    EntryPoint *found = entry_points;
    while (found->shaders && strcmp(found->name, name)) {
        found++;
    }
    snprintf(found->name, sizeof found->name, "%s", name);
    VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
    VkPipelineExecutableStatisticKHR found_statistics[64];
    uint32_t count = 64;
    for (uint32_t at = 0; at < count; at++) {
        found_statistics[at] = (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    }
    statistics(device, &executable, &count, found_statistics);
    unsigned long long spilled = 0;
    for (uint32_t at = 0; at < count; at++) {
        const char *what = found_statistics[at].name;
        unsigned long long value = found_statistics[at].value.u64;
        if (!strcmp(what, "VGPRs") && value > found->registers) {
            found->registers = value;
        } else if (!strcmp(what, "Instructions") && value > found->instructions) {
            found->instructions = value;
        } else if (!strcmp(what, "Subgroups per SIMD") && (value < found->waves || !found->shaders)) {
            found->waves = value;
        } else if (!strncmp(what, "Spilled", 7)) {
            spilled += value;
        }
    }
    found->shaders++;
    return spilled;
}

// What is wrong with it, or nothing.
static const char *compile(const uint32_t *words, size_t size, const char *entry_point, VkPipelineLayout layout) {
    VkShaderModuleCreateInfo module_info = {
        VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    if (vkCreateShaderModule(device, &module_info, NULL, &module)) {
        return "no module";
    }
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR,
                                        .stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = entry_point},
                                        .layout = layout};
    VkPipeline pipeline = VK_NULL_HANDLE;
    const char *wrong = NULL;
    if (vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline)) {
        wrong = "no pipeline";
    } else if (look_at(pipeline, entry_point)) {
        wrong = "registers are spilled";
    }
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyShaderModule(device, module, NULL);
    return wrong;
}

int main(int count, char **arguments) {
    FILE *list = count == 2 ? fopen(arguments[1], "r") : NULL;
    const char *missing = list ? make_device() : "no list";
    if (missing) {
        puts(missing);
        return 2;
    }
    VkPipelineLayout layouts[] = {make_layout(0), make_layout(1)};
    char file[1024], entry_point[64];
    static uint32_t words[1 << 18];
    int compiled = 0, rejected = 0;
    while (fscanf(list, "%1023s %63s", file, entry_point) == 2) {
        FILE *opened = fopen(file, "rb");
        size_t size = opened ? fread(words, 1, sizeof words, opened) : 0;
        if (opened) {
            fclose(opened);
        }
        const char *wrong = "not read";
        if (size && size < sizeof words) {
            wrong = compile(words, size, entry_point, layouts[strcmp(entry_point, "count_rows") != 0]);
        }
        if (wrong) {
            rejected++;
            printf("%s: %s\n", file, wrong);
        } else {
            compiled++;
        }
    }
    for (EntryPoint *found = entry_points; found->shaders; found++) {
        printf("%-28s %5llu shaders, at most %4llu instructions and %2llu registers, %llu waves\n", found->name,
               found->shaders, found->instructions, found->registers, found->waves);
    }
    printf("%d compiled, %d rejected\n", compiled, rejected);
    return rejected ? 1 : 0;
}
