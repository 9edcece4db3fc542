import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LayerPart, PromptContext } from '../layer.ts';
import { getLayout } from '../layouts.ts';
import {
  createContext,
  createTruncatingView,
  createView,
  getBuiltInLayer,
  OWNER,
} from '../testing/example-turn.ts';

const workspaceContextLayer = getBuiltInLayer('workspace-context');

const entry = getLayout('mushroom').layers.find(({ layer }) => layer === 'workspace-context');
const NAMES = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md'] as const;

async function render(context: PromptContext, options = entry ?? {}): Promise<LayerPart> {
  const output = await workspaceContextLayer.render(context, options);
  if ('absent' in output) throw new Error(output.absent);
  return output;
}

/** Counts the shown characters of each file, whose letters occur nowhere else in the prompt. */
const shownOf = (text: string): number[] =>
  ['ä', 'ö', 'ü'].map((letter) => text.split(letter).length - 1);

const filesOf = (sizes: readonly number[]): Record<string, string> =>
  Object.fromEntries(NAMES.map((name, n) => [name, ('äöü'[n] ?? '').repeat(sizes[n] ?? 0)]));

describe('workspace files in the mushroom layout', () => {
  it('[P04] have a heading and a purpose each, under the root of the workspace', async () => {
    const { text } = await render(createContext({ view: createView(OWNER, filesOf([1, 1, 1])) }));
    expect(text).toMatch(/^# Workspace Context\nWorkspace root: ~\/\.parley\/workspace\n\n/);
    for (const name of NAMES)
      expect(text).toMatch(new RegExp(`^## ${name}\\nPurpose: .+\\.$`, 'm'));
  });

  it('[P04] [P10] are truncated at 4,000 characters each, with a notice', async () => {
    const view = createTruncatingView(OWNER, filesOf([5_000, 4_000, 9_000]));
    const { text, cut } = await render(createContext({ view }));
    expect(shownOf(text)).toEqual([4_000, 4_000, 4_000]);
    expect(text).toContain('[Cut: the first 4,000 of 5,000 characters of AGENTS.md are shown.]');
    expect(text).toContain('[Cut: the first 4,000 of 9,000 characters of IDENTITY.md are shown.]');
    expect(text).not.toContain('of SOUL.md are shown');
    expect(cut).toEqual({ shown: 12_000, total: 18_000 });
  });

  it('[P04] [P10] never exceed the limits per file and in total, and always state what is missing', async () => {
    const sizes = fc.array(fc.nat({ max: 9_000 }), { minLength: 3, maxLength: 3 });
    const limits = fc.record({
      characters: fc.integer({ min: 1, max: 5_000 }),
      charactersInAll: fc.integer({ min: 0, max: 13_000 }),
    });
    await fc.assert(
      fc.asyncProperty(sizes, limits, async (lengths, { characters, charactersInAll }) => {
        const wanted = lengths.map((length) => Math.max(1, length));
        const view = createTruncatingView(OWNER, filesOf(wanted));
        const options = { files: NAMES, characters, charactersInAll };
        const { text, cut } = await render(createContext({ view }), options);
        const shown = shownOf(text);
        const sum = shown.reduce((total, part) => total + part, 0);
        expect(Math.max(...shown)).toBeLessThanOrEqual(characters);
        expect(sum).toBeLessThanOrEqual(charactersInAll);
        for (const [n, name] of NAMES.entries()) {
          const isWhole = shown[n] === wanted[n];
          expect(text.includes(`characters of ${name} are shown.]`)).toBe(!isWhole);
        }
        const total = wanted.reduce((all, part) => all + part, 0);
        expect(cut ?? { shown: sum, total: sum }).toEqual({ shown: sum, total });
      }),
      toRunOptions(200),
    );
  });

  it('[P04] [P10] share 12,000 characters when a layout names a fourth file; the last files are marked as truncated', async () => {
    const files = ['AGENTS.md', 'SOUL.md', 'IDENTITY.md', 'TOOLS.md', 'USER.md'];
    const sizes = [5_000, 3_900, 4_000, 2_000, 700];
    const texts = Object.fromEntries(
      files.map((name, at) => [name, 'äöüßñ'.charAt(at).repeat(sizes[at] ?? 0)]),
    );
    const view = createTruncatingView(OWNER, texts);
    const { text, cut } = await render(createContext({ view }), { ...entry, files });
    const shown = [...'äöüßñ'].map((letter) => text.split(letter).length - 1);
    expect(shown).toEqual([4_000, 3_900, 4_000, 100, 0]);
    expect(text.match(/\[Cut: .*?\]/g)).toEqual([
      '[Cut: the first 4,000 of 5,000 characters of AGENTS.md are shown.]',
      '[Cut: the first 100 of 2,000 characters of TOOLS.md are shown.]',
      '[Cut: the first 0 of 700 characters of USER.md are shown.]',
    ]);
    expect(cut).toEqual({ shown: 12_000, total: 15_600 });
  });

  it('[P02] are absent when they do not exist, and the report names them', async () => {
    expect(await workspaceContextLayer.render(createContext(), entry ?? {})).toEqual({
      absent: 'AGENTS.md: missing; SOUL.md: missing; IDENTITY.md: missing',
    });
  });

  it('[P04] are omitted with skipContextFiles', async () => {
    const view = createView(OWNER, filesOf([1, 1, 1]));
    const output = await workspaceContextLayer.render(
      createContext({ view, skipContextFiles: true }),
      entry ?? {},
    );
    expect(output).toMatchObject({ absent: expect.stringContaining('skipContextFiles is on') });
  });
});
