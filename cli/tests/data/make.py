"""Makes the files of this folder, as people have them. The tests read them without this script.

pip install numpy safetensors gguf; python make.py
"""

import io
import json
import struct
import zipfile

import gguf
import numpy as np
from safetensors.numpy import save

TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)
IDS = np.array([2, 0])


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def raw_npy(version, header, data):
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


# An archive of all sorts.
with zipfile.ZipFile("mixed.npz", "w") as archive:
    archive.writestr("README.txt", "The rows of a table.\n")
    archive.mkdir("folder")
    archive.writestr("table.npy", npy(TABLE))
    archive.writestr("ids.npy", npy(IDS))
    archive.writestr("labels.npy", npy(np.array(["a", "b", "c"])))
    archive.writestr("columns.npy", npy(np.asfortranarray(TABLE)))
    archive.writestr("cut.npy", npy(TABLE)[:100])

# A vector in Fortran order, as Julia's NPZ.jl writes each of its files.
write("julia.npy", raw_npy(1, b"{'descr': '<i8', 'fortran_order': True, 'shape': (2,), }\n", IDS.tobytes()))
# Python 2 wrote long dims.
write("python2.npy", raw_npy(1, b"{'descr': '<i8', 'fortran_order': False, 'shape': (2L,), }\n", IDS.tobytes()))
# Bytes after the last element, as of a file to which more was appended.
write("appended.npy", npy(IDS) + npy(TABLE))
# The name of a field in Latin-1, which version 1 is written in.
write("latin1.npy", npy(np.zeros(2, [("\xe9", "<i4")])))
write("big_endian.npy", npy(IDS.astype(">i8")))
write("objects.npy", npy(np.array([None]), allow_pickle=True))

# A tensor of a type that is not known yet beside one that is.
header_and_data = save({"table": TABLE, "other": IDS})
length = struct.unpack("<Q", header_and_data[:8])[0]
header = json.loads(header_and_data[8 : 8 + length])
header["other"]["dtype"] = "U99"
header = json.dumps(header).encode()
write("later.safetensors", struct.pack("<Q", len(header)) + header + header_and_data[8 + length :])

# A model without an ending, as in ollama's folder of blobs: a Q8_0 tensor between two of types that are not known yet, and
# one of 5 dims.
values = np.random.default_rng(7).standard_normal((4, 32), dtype=np.float32)
writer = gguf.GGUFWriter("blob", "test")
writer.add_custom_alignment(64)
rows = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
for name in ["first", "rows", "last"]:
    writer.add_tensor(name, rows, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
writer.add_tensor("deep", np.arange(4, dtype=np.float32).reshape(1, 1, 2, 1, 2))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
with open("blob", "rb") as file:
    model = bytearray(file.read())
for name, number in [(b"first", 41), (b"last", 4)]:
    # Behind the name: the rank, two dims and the type.
    at = model.index(struct.pack("<Q", len(name)) + name) + 8 + len(name) + 4 + 16
    model[at : at + 4] = struct.pack("<I", number)
write("blob", model)
write("blob_rows.npy", npy(gguf.quants.dequantize(rows, gguf.GGMLQuantizationType.Q8_0)))
