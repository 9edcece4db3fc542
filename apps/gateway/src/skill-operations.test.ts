import type { SkillStatus } from '@parley/workspace';
import { expect, it } from 'vitest';
import { operations } from './skill-operations.ts';

const CALL = { caller: { name: 'Ann', role: 'owner' } } as const;
const TEA: SkillStatus = {
  ...{ name: 'tea', state: 'ready', source: 'workspace', description: '', emoji: null },
  ...{ reason: null, install: [], forModel: true, command: null, commandProblem: null },
  ...{ location: '~/work/skills/tea/SKILL.md', warnings: [], tokens: 0 },
  ...{ audience: { kind: 'everyone' }, show: null, primaryEnv: null },
};
const turned: unknown[] = [];
const needs = {
  skills: async () => ({
    skills: { list: async () => [TEA], show: async () => null },
    turn: (...asked: unknown[]) => void turned.push(asked),
  }),
};

it('[S09] a skill shows whether the settings enable it, and where it can be edited', async () => {
  const { skills } = await operations.list.run(needs, {}, CALL);
  expect(skills).toMatchObject([
    { name: 'tea', isOn: true, readers: 'everyone', file: 'skills/tea/SKILL.md' },
  ]);
});

it('[S09] a skill is enabled or disabled by its name, and an unknown name is refused', async () => {
  await operations.turn.run(needs, { name: 'tea', isOn: false }, CALL);
  const unknown = operations.turn.run(needs, { name: 'nothing', isOn: true }, CALL);
  await expect(unknown).rejects.toThrow('There is no skill nothing.');
  expect(turned).toEqual([['tea', false]]);
});
