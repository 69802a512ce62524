// Compiles SPIR-V for the GPU that Mesa's driver finds, or that a drm shim imitates: gpus LIST [robust]. LIST has a
// line "FILE ENTRY_POINT" for each pipeline. "robust" enables robustBufferAccess2, as wgpu does if a driver has it.
//
// Prints "gpu NAME" and "mesa VERSION", and for each pipeline either
//     FILE INSTRUCTIONS REGISTERS WAVES SPILLS LOADS IN_FLIGHT
// or "FILE rejected: REASON". A statistic that the driver does not give, or that needs an unknown assembly, is "-".
// Exits with 2 if there is no GPU.
//
// LOADS counts the instructions that load params, and IN_FLIGHT the most of their loads that are under way at once: see
// loads_of_params. With ASSEMBLY in the environment, prints the assembly to stderr, too.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { SPIRV_MAGIC = 0x07230203, MAX_WORDS = 1 << 18 };
enum { MAX_BINDINGS = 16, MAX_STATISTICS = 64, MAX_TEXTS = 16, MAX_PENDING = 256 };

static VkDevice device;
static PFN_vkGetPipelineExecutableStatisticsKHR get_statistics;
static PFN_vkGetPipelineExecutableInternalRepresentationsKHR get_texts;

// ---------------------------------------------------------------------------------------------------------------------
// Loads in flight

typedef enum { NAK, ACO } Dialect;

// A register's round is the number of loads, each depending on the one before, that its value depends on.
enum { CLASSES = 7, REGISTERS = 256 };
static const char *const class_names[CLASSES] = {"r", "ur", "p", "up", "v", "s", "vcc"};
typedef struct {
    int rounds[CLASSES][REGISTERS];
} Registers;

typedef struct {
    int class, first, last;
} Span;

// Finds the next register, or registers, in a text: r4, r12..16 (up to 15), v3, v[16:19] (up to 19), vcc.
static int next_span(const char **text, const char *end, Span *found) {
    const char *at = *text;
    while (at < end) {
        if (!isalnum((unsigned char)*at)) {
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && (isalpha((unsigned char)*at) || *at == '_')) {
            at++;
        }
        size_t letters = (size_t)(at - word);
        const char *digits = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_')) {
            at++;
        }
        int is_vcc = letters >= 3 && !strncmp(word, "vcc", 3), read = 0, class = is_vcc ? CLASSES - 1 : 0;
        while (!is_vcc && class < CLASSES &&
               (strlen(class_names[class]) != letters || strncmp(class_names[class], word, letters))) {
            class++;
        }
        *found = (Span){class, 0, 0};
        if (class == CLASSES) {
            continue;
        }
        if (is_vcc) {
            // vcc is one register, without a number.
        } else if (digits < at) {
            found->first = found->last = atoi(digits);
            if (sscanf(at, "..%d%n", &found->last, &read) == 1) {
                found->last--;
            }
        } else if (sscanf(at, "[%d:%d]%n", &found->first, &found->last, &read) != 2) {
            continue;
        }
        at += read;
        if (found->first >= 0 && found->last < REGISTERS) {
            *text = at;
            return 1;
        }
    }
    return 0;
}

static int round_of(const Registers *registers, const char *text, const char *end) {
    Span span;
    int round = 0;
    while (next_span(&text, end, &span)) {
        for (int at = span.first; at <= span.last; at++) {
            round = registers->rounds[span.class][at] > round ? registers->rounds[span.class][at] : round;
        }
    }
    return round;
}

// A write under a predicate may leave the register unchanged, so the larger round stays.
static void set_round(Registers *registers, const char *text, const char *end, int round, int predicated) {
    Span span;
    while (next_span(&text, end, &span)) {
        for (int at = span.first; at <= span.last; at++) {
            int *old = &registers->rounds[span.class][at];
            *old = predicated && *old > round ? *old : round;
        }
    }
}

// A parsed line of assembly.
typedef struct {
    const char *results, *results_end, *operands, *end;
    // A store's data.
    const char *data, *data_end;
    int is_load, is_store, is_predicated, counts_as_load, begins_block;
    // NAK has a scoreboard: an instruction waits for the barriers of a mask, and sets one for its own result, or -1.
    unsigned waits;
    int barrier;
    // ACO has a counter: an instruction waits until at most this many loads are under way. -1 stands for no wait.
    int left;
} Instruction;

static int begins(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

// Finds a text in one line. The lines after its end are not searched.
static const char *find(const char *text, const char *end, const char *what) {
    size_t size = strlen(what);
    for (; text + size <= end; text++) {
        if (!memcmp(text, what, size)) {
            return text;
        }
    }
    return NULL;
}

// "@!p0 r12..16 = ld.global.a64.constant.b128 [r4..6], pT  // delay=1 wt=000001 wr:3", or "block 4 L8 [3] -> {"
static Instruction read_nak(const char *line, const char *line_end) {
    Instruction read = {.barrier = -1, .left = -1, .begins_block = begins(line, "block")};
    const char *notes = find(line, line_end, "//");
    if (!notes) {
        notes = line_end;
    }
    read.end = notes;
    const char *predicate = line;
    if (*line == '@') {
        read.is_predicated = 1;
        while (line < notes && *line != ' ') {
            line++;
        }
    }
    const char *equals = find(line, notes, " = "), *opcode = equals ? equals + 3 : line;
    read.results = line;
    read.results_end = equals ? equals : line;
    while (opcode < notes && *opcode == ' ') {
        opcode++;
    }
    read.operands = equals || !read.is_predicated ? opcode : predicate;
    read.is_load = read.counts_as_load = begins(opcode, "ld.global");
    read.is_store = begins(opcode, "st.global");
    const char *bracket = read.is_store ? find(opcode, notes, "]") : NULL;
    read.data = bracket ? bracket : notes;
    read.data_end = notes;
    const char *waits = find(notes, line_end, "wt="), *writes = find(notes, line_end, "wr:");
    for (waits = waits ? waits + 3 : line_end; waits < line_end && (*waits == '0' || *waits == '1'); waits++) {
        read.waits = read.waits << 1 | (unsigned)(*waits - '0');
    }
    if (writes) {
        read.barrier = atoi(writes + 3);
    }
    return read;
}

// "buffer_load_dwordx4 v[16:19], v11, s[16:19], 0 offen  ; e0381000 8004100b", or "BB4:"
static Instruction read_aco(const char *line, const char *line_end) {
    Instruction read = {.barrier = -1, .left = -1, .begins_block = begins(line, "BB")};
    const char *code = find(line, line_end, ";");
    read.end = code ? code : line_end;
    int is_memory = begins(line, "buffer_") || begins(line, "global_") || begins(line, "flat_");
    int is_atomic = is_memory && find(line, read.end, "_atomic_");
    int gives_back = is_atomic && find(line, read.end, " glc");
    read.is_load = is_memory && find(line, read.end, "_load_");
    read.is_store = is_memory && find(line, read.end, "_store_");
    read.counts_as_load = read.is_load || gives_back;
    const char *waits = begins(line, "s_waitcnt") ? find(line, read.end, "vmcnt(") : NULL;
    if (waits) {
        read.left = atoi(waits + strlen("vmcnt("));
    }
    const char *operands = find(line, read.end, " "), *comma = operands ? find(operands, read.end, ",") : NULL;
    read.results = read.results_end = read.operands = operands ? operands : read.end;
    read.data = read.operands;
    read.data_end = comma ? comma : read.end;
    if (comma && !read.is_store && (!is_atomic || gives_back)) {
        read.results_end = read.operands = comma;
    }
    return read;
}

typedef struct {
    int deepest, loads, in_flight;
} Loads;

// Reads the assembly in the order of its layout. With round 0, finds the deepest round of loads; otherwise counts the
// loads of the round.
static Loads walk(const char *text, const char *end, Dialect dialect, int round) {
    static Registers registers;
    memset(&registers, 0, sizeof registers);
    struct {
        int barrier, counted;
    } pending[MAX_PENDING];
    int count = 0;
    Loads loads = {0};
    for (const char *line = text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line)), *line_end = next ? next : end;
        next = line_end + 1;
        while (line < line_end && isspace((unsigned char)*line)) {
            line++;
        }
        Instruction now = dialect == NAK ? read_nak(line, line_end) : read_aco(line, line_end);
        line = next;
        // An instruction waits before it does anything else.
        int kept = 0, oldest = now.left >= 0 && count > now.left ? count - now.left : 0;
        for (int at = oldest; at < count; at++) {
            if (!(now.waits >> pending[at].barrier & 1)) {
                pending[kept] = pending[at];
                pending[kept++].counted &= !now.is_store && !now.begins_block;
            }
        }
        count = kept;
        int reached = round_of(&registers, now.operands, now.end) + now.is_load;
        set_round(&registers, now.results, now.results_end, reached, now.is_predicated);
        if (now.is_store) {
            // A stored value is no address, but in another block these registers may hold addresses.
            set_round(&registers, now.data, now.data_end, 0, 0);
        }
        // Loads after the second round count as loads of params.
        reached = reached > 2 ? 2 : reached;
        if (now.is_load && reached > loads.deepest) {
            loads.deepest = reached;
        }
        if (!now.counts_as_load || count == MAX_PENDING) {
            continue;
        }
        int counted = now.is_load && reached == round, under_way = 0;
        // NAK's loads have one of six barriers. ACO has none: its loads get 31, for which no instruction waits.
        pending[count].barrier = now.barrier >= 0 ? now.barrier : 31;
        pending[count++].counted = counted;
        loads.loads += counted;
        for (int at = 0; at < count; at++) {
            under_way += pending[at].counted;
        }
        loads.in_flight = under_way > loads.in_flight ? under_way : loads.in_flight;
    }
    return loads;
}

// Counts the loads of params, and the most of them in flight.
//
// A kernel loads indices first and params in a second round: the address of a load of params depends on another load.
// In a kernel without a second round all loads count, as RADV loads indices that a workgroup shares as constants. A
// load is in flight until an instruction waits for it, or until the next store or the end of its block, as the layout
// does not show the order of blocks.
static Loads loads_of_params(const char *text, size_t size, Dialect dialect) {
    return walk(text, text + size, dialect, walk(text, text + size, dialect, 0).deepest);
}

// ---------------------------------------------------------------------------------------------------------------------
// Vulkan

static const char *make_device(int robust) {
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    VkPhysicalDevice gpu;
    uint32_t count = 1;
    if (vkCreateInstance(&instance_info, NULL, &instance) || vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || !count) {
        return "no GPU";
    }
    static VkPhysicalDeviceDriverProperties driver = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    static VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    vkGetPhysicalDeviceProperties2(gpu, &properties);
    printf("gpu %s, %s\nmesa %s\n", driver.driverName, properties.properties.deviceName, driver.driverInfo);

    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceRobustness2FeaturesEXT robustness = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, .robustBufferAccess2 = VK_TRUE};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = robust ? &robustness : NULL,
        .pipelineExecutableInfo = VK_TRUE};
    VkPhysicalDeviceFeatures features = {.robustBufferAccess = robust ? VK_TRUE : VK_FALSE};
    const char *extensions[] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME};
    VkDeviceCreateInfo device_info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .pNext = &executable,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue,
                                      .enabledExtensionCount = robust ? 2 : 1,
                                      .ppEnabledExtensionNames = extensions,
                                      .pEnabledFeatures = &features};
    if (vkCreateDevice(gpu, &device_info, NULL, &device)) {
        return "no device";
    }
    get_statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(
        device, "vkGetPipelineExecutableStatisticsKHR");
    get_texts = (PFN_vkGetPipelineExecutableInternalRepresentationsKHR)vkGetDeviceProcAddr(
        device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    return NULL;
}

// A layout of the shader's buffers, from the decorations of its variables.
static VkPipelineLayout make_layout(const uint32_t *words, size_t size) {
    enum { OP_VARIABLE = 59, OP_DECORATE = 71, BINDING = 33, UNIFORM = 2, STORAGE_BUFFER = 12, HEADER = 5 };
    uint32_t *bindings = calloc(words[3], sizeof *bindings); // of each id, counted from 1
    VkDescriptorSetLayoutBinding buffers[MAX_BINDINGS];
    VkDescriptorSetLayoutCreateInfo set_info = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .pBindings = buffers};
    for (size_t at = HEADER; at < size && words[at] >> 16; at += words[at] >> 16) {
        const uint32_t *operands = words + at + 1;
        uint32_t opcode = words[at] & 0xffff;
        if (opcode == OP_DECORATE && operands[1] == BINDING) {
            bindings[operands[0]] = operands[2] + 1;
        } else if (opcode == OP_VARIABLE && bindings[operands[1]] && set_info.bindingCount < MAX_BINDINGS) {
            buffers[set_info.bindingCount++] = (VkDescriptorSetLayoutBinding){
                bindings[operands[1]] - 1,
                operands[2] == UNIFORM ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
        }
    }
    free(bindings);
    VkDescriptorSetLayout set;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    if (!vkCreateDescriptorSetLayout(device, &set_info, NULL, &set)) {
        VkPipelineLayoutCreateInfo info = {
            VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set};
        vkCreatePipelineLayout(device, &info, NULL, &layout);
        vkDestroyDescriptorSetLayout(device, set, NULL);
    }
    return layout;
}

enum { INSTRUCTIONS, GPU_REGISTERS, WAVES, SPILLS, FIELDS };

// Each driver has its own names. Honeykrisp counts invocations, 32 of which are a wave.
static const struct {
    const char *name;
    int field, divisor;
} statistics[] = {
    {"Instruction count", INSTRUCTIONS, 1},   // NVK
    {"Number of GPRs", GPU_REGISTERS, 1},
    {"Max warps/SM", WAVES, 1},
    {"Spills to memory", SPILLS, 1},
    {"Instruction Count", INSTRUCTIONS, 1},   // Turnip
    {"Registers used", GPU_REGISTERS, 1},
    {"Max Waves Per Core", WAVES, 1},
    {"STP Count", SPILLS, 1},
    {"Instructions", INSTRUCTIONS, 1},        // Honeykrisp, RADV
    {"GPRs", GPU_REGISTERS, 1},               // Honeykrisp
    {"Threads", WAVES, 32},
    {"Spills", SPILLS, 1},
    {"VGPRs", GPU_REGISTERS, 1},              // RADV
    {"Subgroups per SIMD", WAVES, 1},
    {"Spilled SGPRs", SPILLS, 1},
    {"Spilled VGPRs", SPILLS, 1},
};

static void print_statistics(const VkPipelineExecutableInfoKHR *executable) {
    unsigned long long sums[FIELDS] = {0};
    int known[FIELDS] = {0};
    VkPipelineExecutableStatisticKHR found[MAX_STATISTICS];
    uint32_t count = MAX_STATISTICS;
    for (uint32_t at = 0; at < count; at++) {
        found[at] = (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    }
    get_statistics(device, executable, &count, found);
    for (uint32_t at = 0; at < count; at++) {
        for (size_t name = 0; name < sizeof statistics / sizeof *statistics; name++) {
            if (!strcmp(found[at].name, statistics[name].name)) {
                sums[statistics[name].field] += found[at].value.u64 / (unsigned long long)statistics[name].divisor;
                known[statistics[name].field] = 1;
            }
        }
    }
    for (int field = 0; field < FIELDS; field++) {
        if (known[field]) {
            printf(" %llu", sums[field]);
        } else {
            printf(" -");
        }
    }
}

static void print_loads(const VkPipelineExecutableInfoKHR *executable) {
    VkPipelineExecutableInternalRepresentationKHR texts[MAX_TEXTS];
    uint32_t count = MAX_TEXTS;
    for (uint32_t at = 0; at < count; at++) {
        texts[at] = (VkPipelineExecutableInternalRepresentationKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
    }
    // The first call gets the sizes, the second the texts.
    get_texts(device, executable, &count, texts);
    for (uint32_t at = 0; at < count; at++) {
        texts[at].pData = calloc(1, texts[at].dataSize + 1);
    }
    get_texts(device, executable, &count, texts);
    int understood = 0;
    for (uint32_t at = 0; at < count; at++) {
        int is_nak = !strcmp(texts[at].name, "NAK assembly"), is_aco = !strcmp(texts[at].name, "Assembly");
        if (texts[at].isText && (is_nak || is_aco) && !understood) {
            Loads loads = loads_of_params(texts[at].pData, strlen(texts[at].pData), is_nak ? NAK : ACO);
            printf(" %d %d", loads.loads, loads.in_flight);
            understood = 1;
            if (getenv("ASSEMBLY")) {
                fprintf(stderr, "%s\n", (char *)texts[at].pData);
            }
        }
        free(texts[at].pData);
    }
    if (!understood) {
        printf(" - -");
    }
}

static void compile(const char *file, const char *entry_point) {
    static uint32_t words[MAX_WORDS];
    FILE *opened = fopen(file, "rb");
    size_t size = opened ? fread(words, sizeof *words, MAX_WORDS, opened) : 0;
    if (opened) {
        fclose(opened);
    }
    // The name is printed first, so that it is known if the driver dies.
    printf("%s", file);
    fflush(stdout);
    if (size < 5 || size == MAX_WORDS || *words != SPIRV_MAGIC) {
        printf(" rejected: no SPIR-V\n");
        return;
    }
    VkShaderModuleCreateInfo module_info = {
        VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size * sizeof *words, .pCode = words};
    VkShaderModule module = VK_NULL_HANDLE;
    vkCreateShaderModule(device, &module_info, NULL, &module);
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                                                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
                                        .stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = entry_point},
                                        .layout = make_layout(words, size)};
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (!module || !info.layout || vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline)) {
        printf(" rejected: no pipeline\n");
    } else {
        VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
        print_statistics(&executable);
        print_loads(&executable);
        puts("");
    }
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyPipelineLayout(device, info.layout, NULL);
    vkDestroyShaderModule(device, module, NULL);
}

int main(int count, char **arguments) {
    FILE *list = count >= 2 ? fopen(arguments[1], "r") : NULL;
    const char *missing = list ? make_device(count == 3 && !strcmp(arguments[2], "robust")) : "no list";
    if (missing) {
        puts(missing);
        return 2;
    }
    char file[1024], entry_point[64];
    while (fscanf(list, "%1023s %63s", file, entry_point) == 2) {
        compile(file, entry_point);
    }
    return 0;
}
