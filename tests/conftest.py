"""Fixtures for every test."""

import compileall
import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import harness.metrics
from harness.config import plugins as harness_plugins
from harness.core.metric import REGISTRY
from harness.stats.registry import TESTS, load_all

assert harness.metrics  # importing it fills the registry
BUILT_IN, BUILT_IN_TESTS = dict(REGISTRY), dict(load_all())
ROOT = Path(__file__).resolve().parents[1]
os.environ["COLUMNS"] = "100"  # whatever the terminal, or the process of a worker
# a busy machine is no fault, and the same commit has the same examples, hence the same result
SETTINGS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("harness", derandomize=True, max_examples=30, **SETTINGS)
settings.register_profile("thorough", derandomize=True, max_examples=200, **SETTINGS)
settings.register_profile("random", **SETTINGS)  # --hypothesis-profile=random
settings.load_profile("harness")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the project once for all processes, and fix the order of the tests.

    The same commit gives the same result; ``--randomly-seed=N`` tries another order.
    """
    if getattr(config.option, "randomly_seed", None) == "default":
        config.option.randomly_seed = 1
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(ROOT / "harness", quiet=2)


SLOW = (
    "faults/", "page/", "experiment/test_cluster.py", "readers/test_memory.py",
    "changes/test_real_boards.py", "guard/test_real_data.py",
)  # fmt: skip
"""Tests of kills, faults, memory, load, clusters, browsers and every real file."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests by their file; ``-m "slow or not slow"`` runs everything."""
    for item in items:
        where = item.nodeid.removeprefix("tests/")
        if where.startswith(SLOW):
            item.add_marker(pytest.mark.slow)


def lacks_peer(error: BaseException | None) -> str:
    """Package outside the extra 'dev' that an error is about; empty for others."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return ""
    package = error.name.partition(".")[0]
    is_own = package in ("harness", "tests") or (ROOT / "tests" / f"{package}.py").exists()
    return "" if is_own else package


class PeerModule(pytest.Module):
    """A test file, which is skipped if it imports a package that is not installed."""

    def collect(self) -> Iterator[Any]:
        try:
            return iter([*super().collect()])
        except self.CollectError as error:
            if package := lacks_peer(error.__cause__):
                pytest.skip(f"needs {package} (extra 'test')", allow_module_level=True)
            raise


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module:
    """Skip what an installation without the extra 'test' cannot run."""
    module: pytest.Module = PeerModule.from_parent(parent, path=module_path)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that imports a package that is not installed."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if package := lacks_peer(error):
            pytest.skip(f"needs {package} (extra 'test')")
        raise


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what is there for good: libraries, and the tests.

    On Python 3.10 Arrow goes through all it knows at each CSV, seconds where that is much.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _built_in_names_only() -> Iterator[None]:
    """Let no test see the plugins of another."""

    def clean() -> None:
        REGISTRY.clear()
        REGISTRY.update(BUILT_IN)
        TESTS.clear()
        TESTS.update(BUILT_IN_TESTS)
        harness_plugins.allowed = True
        for name in [name for name in sys.modules if name.startswith("harness_plugin_")]:
            del sys.modules[name]

    clean()
    yield
    clean()


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out fsync, which takes half of the time of a small run; no test stops the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real data in ../shared; the test skips if they are absent."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("needs the data in ../shared")
    return folder


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder of the test's own with the example configs and data."""
    return with_examples(tmp_path)


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with the example configs and data, to which tests add results."""
    return with_examples(tmp_path_factory.mktemp("workplace"))


def with_examples(folder: Path) -> Path:
    for name in ("configs", "runs"):
        shutil.copytree(ROOT / name, folder / name)
    return folder
