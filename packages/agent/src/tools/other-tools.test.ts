import type { AbsentSkill, SkillText } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { loadSkillTool } from './skills.ts';
import { currentTimeTool } from './time-tools.ts';

let scene: ToolScene;
beforeEach(async () => {
  scene = await openToolScene();
});
afterEach(() => scene.close());

describe('current_time', () => {
  it.each([
    [{}, 'It is Saturday 21 November 2026 at 14:05 (Europe/Berlin).'],
    [{ timeZone: 'Asia/Tokyo' }, 'It is Saturday 21 November 2026 at 22:05 (Asia/Tokyo).'],
  ])('[G02] %o', async (input, expected) => {
    const { text } = await scene.use(currentTimeTool, input);
    expect(text.replace(',', '')).toBe(expected);
  });

  it('[G02] says what a time zone is called', async () => {
    const outcome = await scene.use(currentTimeTool, { timeZone: 'Berlin' });
    expect(outcome).toMatchObject({ failed: true, text: expect.stringContaining('IANA') });
  });
});

describe('load_skill', () => {
  const asked: unknown[] = [];
  const load = loadSkillTool({
    async read(name, reader, file): Promise<SkillText | AbsentSkill> {
      asked.push([name, reader.kind, file]);
      if (name !== 'tea') return { kind: 'absent', reason: 'unknown', detail: 'There is no x.' };
      return { kind: 'skill', name, text: 'Boil.', source: 'tea', audience: { kind: 'everyone' } };
    },
  });

  it('[S06] gives the text of a skill to a reader who may see it', async () => {
    expect(await scene.use(load, { name: 'tea', file: 'a.md' }, 'guest')).toEqual({
      text: 'Boil.',
    });
    expect(asked.at(-1)).toEqual(['tea', 'guest', 'a.md']);
  });

  it('[S06] says why there is none', async () => {
    const outcome = await scene.use(load, { name: 'x' });
    expect(outcome).toEqual({ text: 'There is no x.', failed: true });
  });
});
