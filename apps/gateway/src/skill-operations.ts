import { change, read, refusal } from '@parley/core';
import type { Skills } from '@parley/workspace';
import { z } from 'zod';

/** The skills of an agent (S09). */
export interface OperatorSkills {
  readonly skills: Pick<Skills, 'list' | 'show'>;
  /** Writes the settings, which decide which skills are used. */
  readonly turn: (name: string, isOn: boolean) => void;
}

interface SkillNeeds {
  /** Those of the agent of that name, or of the default one. */
  skills(agent: string | undefined): Promise<OperatorSkills>;
}

const Name = { name: z.string().max(300) };
const RUNNING = { running: true } as const;

export const operations = {
  list: read(
    'Each skill, whether it is used, and why not',
    {},
    async (needs: SkillNeeds, _, { agent }) => {
      const all = await (await needs.skills(agent)).skills.list();
      return {
        skills: all.map(({ audience, ...one }) => ({
          ...one,
          readers: audience.kind === 'owner' ? ('owner' as const) : ('everyone' as const),
          /** Its file in the workspace, where it can be edited. */
          file: one.source === 'workspace' ? fileOf(one.location) : null,
          /** The settings let it be used; null: it is not theirs to decide. */
          isOn:
            one.state === 'shadowed' || one.state === 'refused'
              ? null
              : one.state !== 'blocked' && one.state !== 'not-allowed',
        })),
      };
    },
    RUNNING,
  ),
  text: read(
    'The whole text of a skill, also of one that is not used',
    Name,
    async (needs: SkillNeeds, { name }, { agent }) => {
      const text = await (await needs.skills(agent)).skills.show(name);
      if (text?.kind === 'skill') return { text: text.text };
      throw refusal('no-skill', text?.detail ?? `There is no skill ${name} that can be read.`);
    },
    RUNNING,
  ),
  turn: change(
    'Switch a skill on or off in the settings; it counts from the next message on',
    { ...Name, isOn: z.boolean() },
    async (needs: SkillNeeds, { name, isOn }, { agent }) => {
      const { skills, turn } = await needs.skills(agent);
      const isKnown = (await skills.list()).some((one) => one.name === name);
      if (!isKnown) throw refusal('no-skill', `There is no skill ${name}.`);
      turn(name, isOn);
      return { text: `${name} is ${isOn ? 'on' : 'off'}: it counts from the next message on.` };
    },
    RUNNING,
  ),
};

/** Of `~/…/skills/tea/SKILL.md` what the workspace calls it. */
function fileOf(location: string): string | null {
  return /(?:^|\/)(skills\/[^/]+\/(?:[^/]+\/)*SKILL\.md)$/.exec(location)?.[1] ?? null;
}
