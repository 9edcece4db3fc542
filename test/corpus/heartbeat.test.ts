import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { previewTasks } from '@parley/proactive';
import { openFolderReader } from '@parley/workspace';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseHeartbeatTasks } from '../../packages/proactive/src/heartbeat/read-tasks.ts';
import {
  formatHeartbeatState,
  readHeartbeatState,
} from '../../packages/proactive/src/heartbeat/state.ts';

/**
 * Each HEARTBEAT.md of test/corpus/heartbeat, with `.state.json` beside some, and what must come out. Written for the
 * kinds that people use; facts about templates are from the documentation of OpenClaw, nanobot, picoclaw and NeoMAGI.
 */
const FOLDER = join(import.meta.dirname, 'heartbeat');
const names = readdirSync(FOLDER);
const cases = names.filter((name) => name.endsWith('.md')).map((name) => name.replace('.md', ''));

const Expected = z.strictObject({
  /** Name and schedule of each task, and the moment of its last run where there is one. */
  tasks: z.array(z.string()),
  /** What is outside of the tasks; absent: nothing. */
  context: z.string().optional(),
  /** The line of each problem and what was found there, or the whole sentence. */
  problems: z.array(z.string()).default([]),
  /** Words that no task and no context has, such as those of items that are done. */
  without: z.array(z.string()).optional(),
});

async function read(name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-corpus-'));
  try {
    writeFileSync(join(folder, 'HEARTBEAT.md'), readFileSync(join(FOLDER, `${name}.md`)));
    const state = stateOf(name);
    if (state !== null) writeFileSync(join(folder, 'heartbeat-state.json'), state);
    const files = await openFolderReader(folder, systemTime.clock);
    const found = await previewTasks(files, { timeZone: 'UTC' });
    return {
      tasks: found.tasks.map(({ name: task, schedule, lastRun }) =>
        [task, schedule, ...(lastRun === null ? [] : [new Date(lastRun).toISOString()])].join(
          ' | ',
        ),
      ),
      ...(found.context !== undefined && { context: found.context }),
      problems: found.problems.map(
        (text) =>
          /^HEARTBEAT\.md, (line \d+)[^"]*(found "(?:[^"]|"(?!, ))*")/
            .exec(text)
            ?.slice(1)
            .join(': ') ?? text,
      ),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function stateOf(name: string): string | null {
  const file = `${name}.state.json`;
  return names.includes(file) ? readFileSync(join(FOLDER, file), 'utf8') : null;
}

it('[H11] has an expectation for each input, and an input for each expectation', () => {
  const expected = names.filter((name) => name.endsWith('.expected.json'));
  expect(expected.map((name) => name.replace('.expected.json', '')).sort()).toEqual(cases.sort());
  const states = names.filter((name) => name.endsWith('.state.json'));
  expect(cases).toEqual(
    expect.arrayContaining(states.map((name) => name.replace('.state.json', ''))),
  );
  expect(cases.length).toBeGreaterThanOrEqual(140);
});

it.each(cases)('[H11] reads %s as it is meant', async (name) => {
  const found = await read(name);
  const text = readFileSync(join(FOLDER, `${name}.expected.json`), 'utf8');
  const { without = [], ...expected } = Expected.parse(JSON.parse(text));
  expect(found).toEqual(expected);
  const { tasks, context = '' } = parseHeartbeatTasks(
    readFileSync(join(FOLDER, `${name}.md`), 'utf8'),
  );
  const texts = [...tasks.map(({ instruction }) => instruction), context].join('\n');
  for (const words of without) expect(texts).not.toContain(words);
});

/** All values in a state file that are neither objects nor lists. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.values(value).flatMap(leavesOf);
}

it.each(cases.filter((name) => stateOf(name) !== null))(
  '[H11] keeps every entry of the state of %s when it is written',
  (name) => {
    const text = stateOf(name) ?? '';
    const { state } = readHeartbeatState(text);
    const written = formatHeartbeatState(state);
    const kept = leavesOf(JSON.parse(written)).join('\n');
    const times = text.match(/"[^"]+"|\d{5,}/g) ?? [];
    for (const one of times.map((time) => time.replaceAll('"', ''))) {
      const moment = Number.isNaN(Date.parse(one))
        ? Number(one) * (Number(one) < 1e11 ? 1000 : 1)
        : Date.parse(one);
      const iso = Number.isNaN(moment) ? one : new Date(moment).toISOString();
      expect(kept.includes(one) || kept.includes(iso) || written.includes(`"${one}":`), one).toBe(
        true,
      );
    }
  },
);
