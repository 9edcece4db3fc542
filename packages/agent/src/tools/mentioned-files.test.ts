import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXPECTED_ABILITIES } from '@parley/prompt';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestPrompt, openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { readMentionedFiles } from './mentioned-files.ts';

const AGENT = join(import.meta.dirname, '..');

/** Returns the paths that a text mentions, assuming that every file exists. */
async function named(text: string): Promise<readonly string[]> {
  const files = await readMentionedFiles(
    {
      read: async (source) => ({
        ...{ kind: 'file', text: 'x', source, characters: 1, cut: null },
        audience: { kind: 'everyone' },
      }),
    },
    [{ text }],
  );
  return files.map(({ source }) => source);
}

it.each([
  ['see @notes/plan.md, please', ['notes/plan.md']],
  ['(@plan.md) and @plan.md.', ['plan.md']],
  ['@Küche/Liste-1.md', ['Küche/Liste-1.md']],
  ['write to ann@example.org or @bob', []],
  ['@../secret.md @/etc/passwd.md @.env.md', []],
  ['@a.md @b.md @c.md @d.md @e.md @f.md', ['a.md', 'b.md', 'c.md', 'd.md', 'e.md']],
])('[P06] %j mentions %j', async (text, paths) => {
  expect(await named(text)).toEqual(paths);
});

describe('files that a message mentions', () => {
  let scene: TurnScene;
  afterEach(() => scene.close());

  const FILES = {
    'notes/plan.md': 'Clear the front table. canary-plan',
    'long.md': 'x'.repeat(9_000),
    'MEMORY.md': 'canary-memory',
  };

  async function asked(text: string, place: 'direct' | 'group', layout = 'zeus') {
    scene = await openTurnScene({}, { prompt: createTestPrompt(layout) });
    for (const [name, written] of Object.entries(FILES)) {
      mkdirSync(dirname(join(scene.folder, name)), { recursive: true });
      writeFileSync(join(scene.folder, name), written);
    }
    await scene.write(text, place === 'group' ? { chat: { id: 'g', type: 'group' } } : {});
    await scene.answerNext(place === 'group' ? 'g' : undefined);
    const { system = [], messages = [] } = scene.model.asked.at(-1) ?? {};
    return {
      system: system.map(({ text: layer }) => layer).join('\n\n'),
      user: messages.at(-1)?.content ?? '',
    };
  }

  it('[P06] [P10] are resources of the turn in the `zeus` layout: their text is data next to the message, and long text is truncated', async () => {
    const { system, user } = await asked('Do @notes/plan.md and @long.md and @gone.md', 'direct');
    expect(system).toMatch(
      /# Resources\n- notes\/plan.md: 34 characters; .+\n- long.md: 9,000 characters; /,
    );
    expect(system).not.toContain('canary-plan');
    expect(user).toContain('### notes/plan.md\n> Clear the front table. canary-plan\n');
    expect(user).toContain('[Cut: the first 8,000 of 9,000 characters of long.md are shown.]');
    expect(user).not.toContain('### gone.md');
  });

  it.each(['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'])(
    '[P09] [W02] are shown in the `%s` layout to readers who may read them, without changing the system prompt',
    async (layout) => {
      const text = 'See @notes/plan.md and @MEMORY.md';
      const owner = await asked(text, 'direct', layout);
      expect(owner.user).toContain('canary-plan');
      expect(owner.user).toContain('> canary-memory');
      expect(owner.system.includes('# Resources')).toBe(layout === 'zeus');
      await scene.close();
      const group = await asked(text, 'group', layout);
      expect(group.user).toContain('canary-plan');
      expect(group.system + group.user).not.toContain('canary-memory');
    },
  );
});

it('[P06] [P11] the abilities that people expect refer only to existing tools', () => {
  const sources = globSync('*/*.ts', { cwd: AGENT }).map((file) => readFileSync(join(AGENT, file)));
  const tools = sources.flatMap((text) =>
    [...text.toString().matchAll(/(?:^ +name: |SPEAK = )'(\w+)'/gm)].map(([, name]) => name),
  );
  const names = EXPECTED_ABILITIES.flatMap(([, wanted]) => wanted);
  expect(names.filter((name) => !tools.includes(name))).toEqual([]);
});
