import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PARLEY_METRICS } from './metric-table.ts';
import { readProcessSamples } from './metrics.ts';

const DOCUMENT = join(import.meta.dirname, '../../../../docs/metrics.md');

/** The table that the document must contain. */
function table(): string {
  const own = Object.entries(PARLEY_METRICS).map(([name, { kind, labels, help }]) =>
    row(name, kind, labels.join(', '), help),
  );
  const ofProcess = readProcessSamples().map(({ name, kind, help }) => row(name, kind, '', help));
  return [
    '| name | kind | labels | what it says |',
    '|---|---|---|---|',
    ...own,
    ...ofProcess,
  ].join('\n');
}

function row(name: string, kind: string, labels: string, help: string): string {
  return `| \`${name}\` | ${kind} | ${labels} | ${help} |`;
}

describe('docs/metrics.md', () => {
  it('[D10] lists every metric as declared in the code', () => {
    const text = readFileSync(DOCUMENT, 'utf8');
    const [, written = ''] =
      /<!-- metrics -->\n([\s\S]*?)\n<!-- end of metrics -->/.exec(text) ?? [];
    expect(written.trim()).toBe(table());
  });
});
