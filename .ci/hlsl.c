// Compiles HLSL as wgpu does, with Microsoft's compilers for Windows: hlsl.exe fxc|dxc LIST, where LIST has a line
// "FILE ENTRY_POINT" for each shader. Prints "FILE: the compiler's message" for each rejected shader, and at the end
// "COUNT compiled, COUNT rejected". Exits with 1 if a shader was rejected.
#include <stdio.h>
#include <string.h>
#include <windows.h>

typedef struct Blob Blob;
struct Blob {
    struct {
        HRESULT (*query)(Blob *, const GUID *, void **);
        ULONG (*add_ref)(Blob *);
        ULONG (*release)(Blob *);
        void *(*pointer)(Blob *);
        SIZE_T (*size)(Blob *);
    } *methods;
};

typedef struct Result Result;
struct Result {
    struct {
        HRESULT (*query)(Result *, const GUID *, void **);
        ULONG (*add_ref)(Result *);
        ULONG (*release)(Result *);
        HRESULT (*status)(Result *, HRESULT *);
        HRESULT (*code)(Result *, Blob **);
        HRESULT (*errors)(Result *, Blob **);
    } *methods;
};

typedef struct {
    const void *text;
    SIZE_T size;
    UINT encoding;
} Source;

typedef struct Dxc Dxc;
struct Dxc {
    struct {
        HRESULT (*query)(Dxc *, const GUID *, void **);
        ULONG (*add_ref)(Dxc *);
        ULONG (*release)(Dxc *);
        HRESULT (*compile)(Dxc *, const Source *, const wchar_t **, UINT, void *, const GUID *, void **);
    } *methods;
};

static const GUID DXC_COMPILER = {0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
static const GUID COMPILER_3 = {0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
static const GUID RESULT = {0xcedb484a, 0xd4e9, 0x445a, {0xb9, 0x91, 0xca, 0x21, 0xca, 0x15, 0x7d, 0xc2}};

typedef HRESULT (*FxcCompile)(const void *, SIZE_T, const char *, void *, void *, const char *, const char *, UINT,
                              UINT, Blob **, Blob **);
typedef HRESULT (*DxcCreate)(const GUID *, const GUID *, void **);

static FxcCompile fxc;
static Dxc *dxc;

// Returns the size of the compiled code, or 0 for a rejected shader.
static SIZE_T compile(const char *text, SIZE_T size, const char *entry_point, Blob **errors) {
    Blob *code = NULL;
    if (fxc) {
        const UINT strict = 1 << 11;
        HRESULT result = fxc(text, size, NULL, NULL, NULL, entry_point, "cs_5_1", strict, 0, &code, errors);
        return SUCCEEDED(result) && code ? code->methods->size(code) : 0;
    }
    wchar_t entry[64];
    MultiByteToWideChar(CP_UTF8, 0, entry_point, -1, entry, 64);
    const wchar_t *arguments[] = {L"-E", entry, L"-T", L"cs_6_0", L"-HV", L"2018", L"-no-warnings"};
    Source source = {text, size, CP_UTF8};
    Result *result = NULL;
    HRESULT status = dxc->methods->compile(dxc, &source, arguments, 7, NULL, &RESULT, (void **)&result);
    if (FAILED(status) || !result) {
        return 0;
    }
    result->methods->errors(result, errors);
    result->methods->status(result, &status);
    if (FAILED(status) || FAILED(result->methods->code(result, &code)) || !code) {
        return 0;
    }
    return code->methods->size(code);
}

int main(int count, char **arguments) {
    if (count != 3) {
        puts("usage: hlsl.exe fxc|dxc LIST");
        return 2;
    }
    if (strcmp(arguments[1], "fxc") == 0) {
        HMODULE library = LoadLibraryA("d3dcompiler_47.dll");
        fxc = library ? (FxcCompile)(void *)GetProcAddress(library, "D3DCompile") : NULL;
    } else {
        HMODULE library = LoadLibraryA("dxcompiler.dll");
        DxcCreate create = library ? (DxcCreate)(void *)GetProcAddress(library, "DxcCreateInstance") : NULL;
        if (create) {
            create(&DXC_COMPILER, &COMPILER_3, (void **)&dxc);
        }
    }
    FILE *list = fopen(arguments[2], "r");
    if (!list || (!fxc && !dxc)) {
        printf("no %s\n", list ? "compiler" : "list");
        return 2;
    }
    char file[1024], entry_point[64];
    static char text[1 << 20];
    int compiled = 0, rejected = 0;
    while (fscanf(list, "%1023s %63s", file, entry_point) == 2) {
        FILE *opened = fopen(file, "rb");
        SIZE_T size = opened ? fread(text, 1, sizeof text, opened) : 0;
        if (opened) {
            fclose(opened);
        }
        Blob *errors = NULL;
        if (size && size < sizeof text && compile(text, size, entry_point, &errors)) {
            compiled++;
            continue;
        }
        rejected++;
        printf("%s: %.1000s\n", file, errors ? (const char *)errors->methods->pointer(errors) : "no code");
    }
    printf("%d compiled, %d rejected\n", compiled, rejected);
    return rejected ? 1 : 0;
}
