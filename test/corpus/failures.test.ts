import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { classifyFailure, collectCallFailureDetails } from '../../packages/models/src/failures.ts';

const FOLDER = join(import.meta.dirname, 'failures');
/** The moment at which the answers came, for dates in them. */
const NOW = Date.UTC(2026, 10, 27, 12, 0, 0);

interface Case {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One answer a line: `name | status | headers as JSON | body`. */
function casesIn(file: string): readonly Case[] {
  const lines = readFileSync(join(FOLDER, file), 'utf8').split('\n');
  return lines.flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [name = '', status = '', headers = '', ...body] = line.split(' | ');
    return [{ name, status: Number(status), headers: JSON.parse(headers), body: body.join(' | ') }];
  });
}

/** What the client throws: an error inside of a stream is a value, and everything else has a status of its own. */
function thrownFor({ status, headers, body }: Case): unknown {
  if (status !== 200 || !/^[[{]/.test(body)) {
    const message = `Status ${status}`;
    return {
      name: 'AI_APICallError',
      message,
      statusCode: status,
      responseHeaders: headers,
      responseBody: body,
    };
  }
  const value = JSON.parse(body);
  return Array.isArray(value) ? value[0].error : value.error;
}

const files = readdirSync(FOLDER);
const inputs = files.filter((file) => file.endsWith('.txt'));

describe('the corpus of failures', () => {
  it('[G21] has an expectation for each input, and no other', () => {
    const expected = inputs.map((file) => file.replace(/\.txt$/, '.expected.json'));
    expect(files.toSorted()).toEqual([...inputs, ...expected].toSorted());
  });

  it('[G21] is large enough to stand for the servers there are', () => {
    expect(inputs.flatMap(casesIn).length).toBeGreaterThan(120);
  });
});

describe.each(inputs)('%s', (file) => {
  const cases = casesIn(file);
  const expected: Readonly<Record<string, unknown>> = JSON.parse(
    readFileSync(join(FOLDER, file.replace(/\.txt$/, '.expected.json')), 'utf8'),
  );

  it('[G21] names each case once, with its expectation', () => {
    expect(cases.map(({ name }) => name).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it.each(cases)('[G21] what a server says is understood: $name', (one) => {
    expect(classifyFailure(collectCallFailureDetails(thrownFor(one)), NOW)).toEqual(
      expected[one.name],
    );
  });
});
