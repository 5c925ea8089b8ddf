"""What other programs find in exports: perfetto's protobuf classes, pandas, libCacheSim.

readers.py FOLDER: the folder holds timeline.pftrace, rows.csv, pages.oracle. Prints what they found as JSON. Needs
`pip install perfetto pandas libcachesim`.
"""

import collections
import json
import pathlib
import sys


def perfetto(path):
    """Slices by track, checked for nesting; sums of notes; rates of counters; names of threads."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    names, notes, tracks, counters, lost = {}, {}, {}, collections.defaultdict(list), []
    events = collections.defaultdict(list)
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        for name in packet.interned_data.debug_annotation_names:
            notes[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in tracks
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            event = packet.track_event
            assert event.track_uuid in tracks, "described before it is used"
            if event.type == proto.TrackEvent.TYPE_COUNTER:
                counters[tracks[event.track_uuid].name].append([packet.timestamp, event.counter_value])
            elif tracks[event.track_uuid].name == "lost records":
                lost.append([packet.timestamp, event.name])
            else:
                events[event.track_uuid].append((packet.timestamp, event))
    slices, instants, sums, lasted = 0, 0, collections.Counter(), collections.Counter()
    for track in events.values():
        opened = []
        for time, event in sorted(track, key=lambda pair: pair[0]):
            for note in event.debug_annotations:
                if note.WhichOneof("value") == "uint_value":
                    sums[notes[note.name_iid]] += note.uint_value
            if event.type == proto.TrackEvent.TYPE_SLICE_BEGIN:
                assert event.name_iid in names
                opened.append(time)
            elif event.type == proto.TrackEvent.TYPE_SLICE_END:
                # Whoever ends is the one that began last: a pop of nothing would be a slice that does not nest.
                lasted[time - opened.pop()] += 1
                slices += 1
            else:
                assert event.type == proto.TrackEvent.TYPE_INSTANT
                instants += 1
        assert not opened
    for track in tracks.values():
        assert not track.HasField("parent_uuid") or track.parent_uuid in tracks
    threads = sorted([t.thread.pid, t.thread.tid, t.thread.thread_name] for t in tracks.values() if t.HasField("thread"))
    return {"slices": slices, "instants": instants, "sums": sums, "counters": counters, "threads": threads, "lost": lost, "lasted": lasted}


def pandas(path):
    """Sums of columns, and how many values are missing."""
    import pandas

    table = pandas.read_csv(path)
    numbers = table[["start_ns", "offset", "asked_bytes", "result", "misses"]]
    return {
        "rows": len(table),
        "columns": list(table.columns),
        "sums": {name: int(numbers[name].sum()) for name in numbers},
        "missing": {name: int(numbers[name].isna().sum()) for name in numbers},
        "paths": sorted(table["path"].dropna().unique().tolist()),
    }


def libcachesim(pages, rows, options):
    """Misses of LRU caches by their size in pages, of the oracle file; requests that the CSV reader finds."""
    import libcachesim

    ratios = {}
    for size in [1, 4, 16, 64, 256, 1024]:
        reader = libcachesim.TraceReader(trace=str(pages), trace_type=libcachesim.TraceType.ORACLE_GENERAL_TRACE)
        cache = libcachesim.LRU(cache_size=size * 4096)
        ratios[size] = cache.process_trace(reader)[0]
    reader = libcachesim.TraceReader(trace=str(pages), trace_type=libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    belady = libcachesim.Belady(cache_size=64 * 4096).process_trace(reader)[0]
    fields = dict(part.strip().split("=", 1) for part in options.replace("delimiter=,,", "delimiter=@,").split(","))
    init = libcachesim.ReaderInitParam()
    init.time_field, init.obj_id_field = int(fields["time-col"]), int(fields["obj-id-col"])
    init.obj_size_field = int(fields["obj-size-col"])
    init.has_header, init.has_header_set, init.delimiter = True, True, ","
    init.obj_id_is_num, init.obj_id_is_num_set = True, True
    reader = libcachesim.TraceReader(trace=str(rows), trace_type=libcachesim.TraceType.CSV_TRACE, reader_init_params=init)
    found = [[request.clock_time, request.obj_id, request.obj_size] for request in reader]
    return {"misses": ratios, "belady": belady, "requests": found}


folder = pathlib.Path(sys.argv[1])
print(
    json.dumps(
        {
            "perfetto": perfetto(folder / "timeline.pftrace"),
            "pandas": pandas(folder / "rows.csv"),
            "libcachesim": libcachesim(folder / "pages.oracle", folder / "rows.csv", sys.argv[2]),
        }
    )
)
