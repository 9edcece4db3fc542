import { createRefusalError, defineChangeOperation, defineReadOperation } from '@parley/core';
import type { SkillStatus, Skills } from '@parley/workspace';
import { z } from 'zod';

/** Reads and changes the skills of an agent (S09). */
export interface OperatorSkills {
  readonly skills: Pick<Skills, 'list' | 'show'>;
  /** Writes the settings, which determine which skills are used. */
  readonly turn: (name: string, isOn: boolean) => void;
}

interface SkillOperationDeps {
  /** Returns the skills of the named agent, or of the default agent if no name is given. */
  skills(agent: string | undefined): Promise<OperatorSkills>;
}

const Name = { name: z.string().max(300) };

export const operations = {
  list: defineReadOperation(
    'List all skills, whether each of them is used, and the reason if it is not',
    {},
    async (needs: SkillOperationDeps, _, { agent }) => {
      const { skills } = await needs.skills(agent);
      return { skills: (await skills.list()).map(toSkillSummary) };
    },
  ),
  show: defineReadOperation(
    'Show all skills with this name, including unused ones, and the full text of the first one',
    Name,
    async (needs: SkillOperationDeps, { name }, { agent }) => {
      const { skills } = await needs.skills(agent);
      const named = (await skills.list()).filter(
        (one) => one.name.toLowerCase() === name.toLowerCase(),
      );
      if (named.length === 0) throw createRefusalError('no-skill', `There is no skill ${name}.`);
      const text = await skills.show(name);
      return {
        skills: named.map(toSkillSummary),
        text: text?.kind === 'skill' ? text.text : null,
        /** The reason why the text is missing, if known. */
        reason: text === null || text.kind === 'skill' ? null : text.detail,
      };
    },
  ),
  turn: defineChangeOperation(
    'Turn a skill on or off in the settings, starting with the next message',
    { ...Name, isOn: z.boolean() },
    async (needs: SkillOperationDeps, { name, isOn }, { agent }) => {
      const { skills, turn } = await needs.skills(agent);
      const isKnown = (await skills.list()).some((one) => one.name === name);
      if (!isKnown) throw createRefusalError('no-skill', `There is no skill ${name}.`);
      turn(name, isOn);
      return { text: `${name} is ${isOn ? 'on' : 'off'}, starting with the next message.` };
    },
  ),
};

function toSkillSummary({ audience, ...skill }: SkillStatus) {
  const { state } = skill;
  return {
    ...skill,
    readers: audience.kind === 'owner' ? ('owner' as const) : ('everyone' as const),
    /** The path of the skill in the workspace, if it can be edited there. */
    file: skill.source === 'workspace' ? findWorkspaceSkillPath(skill.location) : null,
    /** Whether the settings enable the skill; null if the settings do not affect it. */
    isOn:
      state === 'shadowed' || state === 'refused'
        ? null
        : state !== 'blocked' && state !== 'not-allowed',
  };
}

/** Converts `~/…/skills/tea/SKILL.md` to a path in the workspace. */
function findWorkspaceSkillPath(location: string): string | null {
  return /(?:^|\/)(skills\/[^/]+\/(?:[^/]+\/)*SKILL\.md)$/.exec(location)?.[1] ?? null;
}
