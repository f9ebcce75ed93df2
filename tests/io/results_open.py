"""Opens a results file with h5py and xarray, as it is, and checks that nothing of it is lost on the way.

usage: results_open.py F.h5    (the sample study of tests/io/sample_results.cpp)
Exit code 77: a Python module is missing, so nothing was checked.
"""

import pathlib
import struct
import sys
import zlib

try:
    import h5py
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5py, python3-xarray and python3-h5netcdf")
    sys.exit(77)
try:
    import h5netcdf  # noqa: F401  xarray's engine
except ImportError as missing:
    print(f"skipped: {missing}; install python3-h5netcdf")
    sys.exit(77)

GROUPS = ["study", "space", "evaluations", "front", "may_not_fit", "posterior", "progress", "ranks", "legs"]
ROOT = [
    "filetype", "schema_version", "Conventions", "program_version", "git_commit", "catalog_digest", "created", "command_line", "job_id", "seed",
    "scenario_name", "scenario_path", "scenario_toml", "default_order", "learned", "learned_digest", "quantiles_of",
]
DAY = 86400.0


def check_header(path):
    """As results/README.md says it; CRC-64 bit by bit."""
    whole = open(path, "rb").read()
    header, content = bytearray(whole[:512]), whole[512:]
    magic, version, checksum, length, crc64 = struct.unpack_from("<8sIIQQ", header)
    assert (magic, version, length) == (b"PRISMRES", 1, len(content))
    header[12:16] = bytes(4)
    assert zlib.crc32(header) == checksum
    remainder = 2**64 - 1
    for byte in content:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0xC96C5795D7870F42 if remainder & 1 else 0)  # 0x42F0E1EBA9EA3693 with its bits reversed
    assert remainder ^ (2**64 - 1) == crc64


def check_with_h5py(path):
    with h5py.File(path, "r") as f:
        assert f.userblock_size == 512
        assert list(f["/"]) == GROUPS, list(f["/"])  # in the order of the file
        assert list(f.attrs) == ROOT, list(f.attrs)
        assert f.attrs["filetype"] == "prismopt results"
        assert f.attrs["Conventions"] == "CF-1.10"
        assert list(f.attrs["schema_version"]) == [1, 19]
        assert f.attrs["seed"] == 2**64 - 1
        assert "größer" in f.attrs["scenario_toml"]
        assert f["study"].attrs["outcome"] == "proved complete"
        assert f["study"].attrs["method"] == "exact" and f["study"].attrs["end"] == "none"
        assert f["study"].attrs["stopped_by"] == ""
        assert list(f["space/rejected_facts"].asstr()[()]) == ["", ""]   # sentences, as in files of older versions
        assert len(f["posterior/best"]) == 0  # of a study without it
        assert f["posterior/objective"].attrs["flag_meanings"] == "training_time_p99 gpus"
        assert list(f["evaluations"].attrs["objectives"]) == ["training_time_p99", "gpus"]
        assert [name.decode() for name in f["space/link"]] == ["IB 400", "größer"]
        f.visititems(check_dataset)


def check_dataset(name, dataset):
    if not isinstance(dataset, h5py.Dataset):
        return
    assert dataset.dtype.kind in "iufO", (name, dataset.dtype)  # no compound, no enumeration: xarray drops these
    assert h5py.check_enum_dtype(dataset.dtype) is None, name
    assert dataset.attrs["long_name"], name
    if dataset.dtype.kind != "O":
        assert dataset.attrs["units"] in ("s", "B", "USD", "1", "s-1", "TFLOP/s", "W", "J", "kg", "USD/h"), name
    if not h5py.h5ds.is_scale(dataset.id):
        for axis, dimension in enumerate(dataset.dims):
            assert len(dimension) == 1 and dimension[0].shape[0] == dataset.shape[axis], name


def open_group(path, group):
    """The group in xarray, with all that h5py sees in it."""
    dataset = xr.open_dataset(path, group=group, engine="h5netcdf")
    with h5py.File(path, "r") as f:
        assert set(dataset.variables) == set(f[group]), group
    return dataset


def check_flags(column, meanings, values):
    assert column.dtype.kind == "i"
    assert column.attrs["flag_meanings"] == meanings
    assert list(np.atleast_1d(column.attrs["flag_values"])) == list(range(len(meanings.split())))
    assert np.asarray(column.attrs["flag_values"]).dtype == column.dtype
    assert list(column.values) == values


def check_with_xarray(path):
    evaluations = open_group(path, "evaluations")
    assert dict(evaluations.sizes) == {"evaluation": 3}
    assert list(evaluations["evaluation"].values) == [7, 21, 30]
    assert list(evaluations["gpus"].values) == [8192, 16384, 16384]
    check_flags(evaluations["link"], "IB_400 größer", [1, 0, 0])
    time = evaluations["objective_training_time_p99"]
    assert time.dtype == np.float64 and time.attrs["units"] == "s"  # seconds stay numbers
    assert time.attrs["long_name"] == "p99 training time"
    assert np.isnan(time.sel(evaluation=7)) and time.sel(evaluation=30) == 58.4 * DAY
    assert np.isinf(evaluations["objective_training_time_p99_high"].sel(evaluation=21))
    assert evaluations["objective_gpus_bound"].sel(evaluation=7) == 8192

    front = open_group(path, "front")
    assert dict(front.sizes) == {"front": 2, "probability": 21}
    check_flags(front["dominated"], "non_dominated dominated", [0, 1])
    check_flags(front["schedule"], "1f1b interleaved", [1, 1])
    assert front["step_time_quantile"].dims == ("front", "probability")
    assert front["step_time_quantile"].sel(probability=0.5).notnull().all()
    assert front["cost"].attrs["units"] == "USD" and front["cost"].values[0] == 123.4e6
    frame = front.drop_dims("probability").to_dataframe()
    assert list(frame["evaluation"]) == [30, 21] and list(frame["tp"]) == [8, 4]

    space = open_group(path, "space")
    assert int(space["rejected_count"].sel(rejected="out of memory")) == 28
    assert list(space["tp"].values) == ["4", "8"]
    assert list(open_group(path, "progress")["hypervolume"].values) == [0.25, 0.5]
    assert list(open_group(path, "ranks")["rank"].values) == [0, 1]


def check_page(path):
    """The example of results/README.md, on this file."""
    try:
        import pandas  # noqa: F401  of to_dataframe()
    except ImportError as missing:
        print(f"the example is not checked: {missing}; install python3-pandas")
        return
    page = (pathlib.Path(__file__).parents[2] / "results/README.md").read_text(encoding="utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    names = {}
    exec(example.replace("study.h5", path), names)
    assert list(names["table"]["schedule"]) == ["interleaved", "interleaved"]
    assert list(names["table"]["dominated"].cat.categories) == ["dominated", "non_dominated"]


check_header(sys.argv[1])
check_page(sys.argv[1])
check_with_h5py(sys.argv[1])
check_with_xarray(sys.argv[1])
print("opened with h5py", h5py.__version__, "and xarray", xr.__version__)
