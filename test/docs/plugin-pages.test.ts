import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPluginFiles } from '../../apps/parley/src/commands/plugins/plugin-template.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The TypeScript blocks on a page. */
function codeOf(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
}

describe('the code on the pages about plugins and channels', () => {
  const places = { parley: '', use: '' };

  // `test/e2e/packed.test.ts` compiles and runs these files outside the repository.
  it('[P16] equals the output of "parley plugins new": a plugin with its test', () => {
    const files = createPluginFiles('dice', 'tool', places);
    expect(codeOf('docs/new-plugin.md').slice(0, 2)).toEqual([
      files.get('index.ts'),
      files.get('test.ts'),
    ]);
  });

  it('[P16] equals the output of "parley plugins new --channel": a channel of about forty lines', () => {
    const source = createPluginFiles('hello', 'channel', places).get('index.ts') ?? '';
    expect(codeOf('docs/new-channel.md')).toContain(source);
    const lines = source.split('\n').filter((line) => !/^\s*($|\/[/*])/.test(line));
    expect(lines.length).toBeLessThan(45);
  });
});
