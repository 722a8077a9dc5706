"""What a manifest holds: one description, for who reads it and for its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from .manifest_format import FORMAT

Sha256 = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[StrictInt, Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Input(_Model):
    """A file that was read."""

    path: StrictStr
    """Seen from the config's folder; in formats 1 and 2, from the one above it."""
    bytes: Count
    """Its size."""
    sha256: Sha256
    """Of its bytes, compressed as they are."""


class Crosscheck(_Model):
    """What pytrec_eval evaluated again."""

    mode: StrictStr
    """How its queries were chosen: sample, all or none."""
    queries: Count
    values: Count
    largest_difference: float
    """Between its values and ours; 0, or the run stops."""


class Counts(_Model):
    """What went into an evaluation, and what the policies touched."""

    queries: Count
    """In the values."""
    missing: Count
    """Judged and not answered by the run: of these, but where ``missing_queries: skip`` leaves them
    out."""
    extra: Count
    """Answered but not judged; ignored."""
    empty: Count
    """Without relevant documents, at the highest level that a metric asks for."""
    retrieved: Count
    """Documents."""
    judged: Count
    """Documents that are retrieved and judged."""
    judgements: Count
    """Of all queries."""
    tied: Count
    """Retrieved documents whose score another of the query shares."""


class EvaluatedCell(_Model):
    """A run on a dataset that was evaluated."""

    dataset: StrictStr
    run: StrictStr
    columns: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What placeholders captured."""
    pattern: StrictStr = ""
    """The dataset's name with its placeholders, where it has any."""
    counts: Counts
    undefined: Mapping[StrictStr, Count]
    """Queries for which a metric is NaN, where there are any."""
    standard_errors: Mapping[StrictStr, float | None] = Field(default_factory=dict)
    """Of summaries that are estimated from random orders of ties."""
    ties: StrictStr
    """Policy that ordered them."""
    crosscheck: Crosscheck
    ir_metadata: Mapping[StrictStr, Any] | None = None
    """What the run says of itself in comment lines at its head (ir_metadata)."""


class FailedCell(_Model):
    """A run on a dataset that could not be evaluated."""

    dataset: StrictStr
    run: StrictStr
    columns: Mapping[StrictStr, StrictStr] = Field(default_factory=dict)
    """What placeholders captured."""
    error: StrictStr
    """Why; paths in it as in `inputs`."""


class Finding(_Model):
    """What the guard found in files, or between several."""

    rule: StrictStr
    """Its name in docs/check.md."""
    severity: Literal["error", "warning", "note"]
    """A note is a fact worth knowing, or what `guard.accept` in the config names."""
    place: StrictStr
    """The file; paths as in `inputs`."""
    what: StrictStr
    count: Count
    """How many queries, rows, documents or files it is about, by the file at `place`."""
    examples: tuple[StrictStr, ...]
    """The first of them."""
    effect: StrictStr
    """What it does to the numbers."""
    fix: StrictStr
    """How to mend it."""
    at_least: bool = False
    """Whether `count` may be more, as not everything was looked at."""
    n_others: Count = 0
    """Of a note, other files of which it is true too, or something alike."""
    others: tuple[StrictStr, ...] = ()
    """The first of them."""


class Git(_Model):
    """The working directory that the config lies in."""

    commit: StrictStr
    dirty: StrictBool
    """Whether files that git knows had changes that were not committed."""


class Package(_Model):
    """An installed package that metrics come from."""

    distribution: StrictStr | None
    """What it was installed by."""
    version: StrictStr | None
    """Of that."""
    sha256: Sha256
    """Of the code of it that was loaded."""


class Manifest(_Model):
    """Where a folder of results came from.

    Nothing in it changes between two runs on the same inputs with the same software.
    """

    manifest: Annotated[StrictInt, Field(ge=1, le=FORMAT)]
    """Version of this format. 1 may lack outputs, code and seeds; 1 and 2 lack
    findings."""
    config: Mapping[StrictStr, Any]
    """The config as resolved; policies, metrics and plans of comparison are in it."""
    base: StrictStr
    """Folder of the config, seen from this one; paths in the config start there."""
    inputs: tuple[Input, ...]
    """Every file that values follow from; of cells that failed, those that could be read."""
    versions: Mapping[StrictStr, StrictStr | None]
    """Of the harness, Python, packages and the C library."""
    code: Sha256 | None = None
    """Of the harness's own code, where its version says too little."""
    packages: Mapping[StrictStr, Package] = Field(default_factory=dict)
    """Installed packages that metrics of the config come from, by name."""
    platform: StrictStr
    """System and processor."""
    git: Git | None
    seeds: Mapping[StrictStr, Any] = Field(default_factory=dict)
    """Of everything that draws at random: compare (resampling), summary (its intervals, with draws
    and level), ties (a policy), metrics (by name, the ties of their own)."""
    cells: tuple[EvaluatedCell, ...]
    failed: tuple[FailedCell, ...] = ()
    warnings: tuple[StrictStr, ...]
    """What was said while reading; paths in them as in `inputs`."""
    findings: tuple[Finding, ...] = ()
    """What the guard found, and what readers refused or warned of; notes of one rule in several
    files as one. Before format 3, nothing."""
    outputs: Mapping[StrictStr, Sha256] = Field(default_factory=dict)
    """SHA-256 of the files of values beside it. Tables and pictures carry the manifest's instead,
    and timing.json, which is another for each run, has none."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of manifest.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Manifest.model_json_schema(),
        "title": "manifest.json of a folder of results",
    }
