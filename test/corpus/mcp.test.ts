import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listServerCalls, readOutcome } from './mcp-outcome.ts';

const FOLDER = fileURLToPath(new URL('./mcp', import.meta.url));
const EXPECTED = '.expected.json';

const files = readdirSync(FOLDER).sort();
const inputs = files.filter((name) => !name.endsWith(EXPECTED));
const stem = (name: string) => name.replace(/\.[a-z]+$/, '');

const Expected = z.looseObject({
  calls: z
    .array(z.object({ tool: z.string(), given: z.unknown(), sent: z.unknown().optional() }))
    .optional(),
});

describe('[G03] what MCP servers really send', () => {
  it('has one expectation for each input, and no other', () => {
    const expectations = files.filter((name) => name.endsWith(EXPECTED));
    expect(expectations).toEqual(inputs.map((name) => `${stem(name)}${EXPECTED}`).sort());
    expect(inputs.length).toBeGreaterThanOrEqual(40);
  });

  it.each(inputs)('is read as expected: %s', async (name) => {
    const text = readFileSync(join(FOLDER, `${stem(name)}${EXPECTED}`), 'utf8');
    const { calls, why: _why, ...expected } = Expected.parse(JSON.parse(text));
    const input = readFileSync(join(FOLDER, name));
    expect(await readOutcome(name, input)).toEqual(expected);
    if (calls !== undefined) expect(await listServerCalls(input, calls)).toEqual(calls);
  });
});
