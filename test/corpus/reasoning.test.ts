import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRunOptions } from '@parley/core/testing';
import type { ModelTool } from '@parley/models';
import {
  AnswerSeparator,
  type SeparatedPiece,
  type SeparatorOptions,
} from '@parley/models/separate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, 'reasoning');

/** What must come out of an answer; absent `reasoning`: any. */
const Expected = z.strictObject({
  text: z.string(),
  reasoning: z.string().optional(),
  calls: z
    .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
    .default([]),
  /** Calls that are not run. */
  dropped: z.number().default(0),
  endedBy: z.literal('length').optional(),
  /** What the person asked. */
  asked: z.string().default(''),
  wantsJson: z.boolean().default(false),
  /** Who writes this. */
  source: z.string().optional(),
});

function tool(name: string, properties: object, required: readonly string[]): ModelTool {
  return { name, description: name, inputSchema: { type: 'object', properties, required } };
}

const text = { type: 'string' };
const OFFERED = [
  tool('get_weather', { city: text, days: { type: 'integer' } }, ['city']),
  tool('remind', { text, at: text, repeat: { type: 'integer' } }, ['text', 'at']),
];

interface Separated {
  text: string;
  reasoning: string;
  calls: unknown[];
  dropped: number;
}

function separate(
  pieces: readonly string[],
  expected: z.infer<typeof Expected>,
  start: SeparatorOptions['start'] = 'text',
) {
  const { asked, wantsJson, endedBy } = expected;
  const separator = new AnswerSeparator({
    offered: OFFERED,
    start,
    wantsJson,
    isQuoted: (raw) => asked.includes(raw),
    maxCall: 10_000,
  });
  const out: Separated = { text: '', reasoning: '', calls: [], dropped: 0 };
  for (const piece of pieces) take(out, separator.push(piece));
  take(out, separator.end(endedBy === 'length'));
  return out;
}

function take(out: Separated, pieces: readonly SeparatedPiece[]): void {
  for (const piece of pieces) {
    if (piece.kind === 'restart') out.text = '';
    else if (piece.kind === 'call') {
      const { name, arguments: written } = piece.call;
      out.calls.push({ name, arguments: JSON.parse(written) });
    } else if (piece.kind === 'dropped') out.dropped += 1;
    else out[piece.kind] += piece.text;
  }
}

const names = readdirSync(FOLDER);
const cases = names.filter((name) => name.endsWith('.txt')).map((name) => name.slice(0, -4));

function read(name: string) {
  const answer = readFileSync(join(FOLDER, `${name}.txt`), 'utf8');
  const json = readFileSync(join(FOLDER, `${name}.expected.json`), 'utf8');
  return { answer, expected: Expected.parse(JSON.parse(json)) };
}

/** Without blanks around, where something was hidden. */
function compared(out: Separated, { answer, expected }: ReturnType<typeof read>) {
  const isWhole = expected.text === answer;
  return {
    text: isWhole ? out.text : out.text.trim(),
    ...(expected.reasoning !== undefined && { reasoning: out.reasoning.trim() }),
    calls: out.calls,
    dropped: out.dropped,
  };
}

function wanted({ text, reasoning, calls, dropped }: z.infer<typeof Expected>) {
  return { text, ...(reasoning !== undefined && { reasoning }), calls, dropped };
}

/** The text in pieces, cut at these places. */
function cutAt(answer: string, places: readonly number[]): readonly string[] {
  const ends = [...new Set(places.map((place) => place % (answer.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...ends, answer.length].map((end, nth) => answer.slice(ends[nth - 1] ?? 0, end));
}

describe('answers with reasoning and calls in their text', () => {
  it('[G20] have an expectation each', () => {
    const stems = names.map((name) => name.replace(/\.txt$|\.expected\.json$/, ''));
    expect(names).toHaveLength(new Set(stems).size * 2);
  });

  it.each(cases)('[G20] are separated when they come whole and sign by sign: %s', (name) => {
    const one = read(name);
    const whole = separate([one.answer], one.expected);
    expect(compared(whole, one)).toEqual(wanted(one.expected));
    const bySign = separate([...one.answer], one.expected);
    expect(compared(bySign, one)).toEqual(wanted(one.expected));
  });

  it.each(cases)('[G20] are the same wherever packets end: %s', (name) => {
    const one = read(name);
    fc.assert(
      fc.property(fc.array(fc.nat(2_000), { maxLength: 12 }), (places) => {
        const out = separate(cutAt(one.answer, places), one.expected);
        expect(compared(out, one)).toEqual(wanted(one.expected));
      }),
      toRunOptions(50),
    );
  });

  it.each(cases)(
    '[G20] are the same from a model whose answers begin within reasoning: %s',
    (name) => {
      const one = read(name);
      const inside = separate([...one.answer], one.expected, 'inside');
      if (one.expected.endedBy === undefined) {
        expect(compared(inside, one)).toMatchObject({
          text: one.expected.text,
          calls: one.expected.calls,
        });
      } else expect(inside.text).toBe('');
    },
  );
});
