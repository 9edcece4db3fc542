import type { TurnAdditions, TurnHook } from '@parley/agent';
import type { PromptPart } from '@parley/core';
import type { ContextSource, PromptFeatures } from '@parley/prompt';
import type { WorkspaceView } from '@parley/workspace';
import type { RandomChance } from './chance.ts';
import type { PrivateWorld } from './private-world.ts';

/** Keeps its input from turn to turn, like a cache that ignores the audience. */
export interface PartHoard {
  keep(parts: readonly PromptPart[], view: WorkspaceView): void;
  /** Parts of earlier turns, with the audience they had then. */
  some(): readonly PromptPart[];
  /** A view from an earlier turn. */
  view(): WorkspaceView | undefined;
}

export function createHoard(chance: RandomChance): PartHoard {
  const parts: PromptPart[] = [];
  const views: WorkspaceView[] = [];
  return {
    keep(more, view) {
      parts.push(...more);
      views.push(view);
      if (parts.length > 40) parts.splice(0, parts.length - 40);
      if (views.length > 10) views.shift();
    },
    some: () => (parts.length === 0 ? [] : [chance.pick(parts), chance.pick(parts)]),
    view: () => (views.length === 0 ? undefined : chance.pick(views)),
  };
}

/** Fields that consist of a single part. */
const SINGLE = [
  'approvals',
  'persona',
  'outputFormat',
  'userProfile',
  'projectProfile',
  'yesterday',
  'ephemeral',
] as const;

/**
 * A faulty feature that returns parts from other turns, mixed with those of this turn, each with
 * its original audience. The layers have to apply the strictest audience.
 */
export function createHoardingSource(hoard: PartHoard, chance: RandomChance): ContextSource {
  return {
    id: 'hoarding',
    reads: ['/'],
    async gather({ view, reader }) {
      if (chance.happens(0.5)) return {};
      const now = await readSomeFiles(view, ['MEMORY.md', 'AGENTS.md', view.groupMemory], chance);
      const features: { -readonly [Field in keyof PromptFeatures]: PromptFeatures[Field] } = {};
      for (const field of SINGLE) {
        // Such a layer is withheld as a whole, so an owner would miss the rest of it.
        const others = reader.kind === 'owner' ? [] : hoard.some();
        const part = [...now, ...others].at(chance.below(3));
        if (part !== undefined && chance.happens(0.3)) features[field] = part;
      }
      features.memories = [...now, ...hoard.some()];
      features.knowledge = [...hoard.some(), ...now];
      const earlier = hoard.view();
      const late = earlier ? await readSomeFiles(earlier, ['MEMORY.md', 'USER.md'], chance) : [];
      if (chance.happens(0.3)) features.memories = [...late, ...now];
      hoard.keep(now, view);
      return features;
    },
  };
}

/**
 * A hook with the same fault. Its additions have the audience with which they were read; a hook
 * that declares private text public is hostile code inside the process, which cannot be detected
 * here.
 */
export function createHoardingHook(hoard: PartHoard, chance: RandomChance): TurnHook {
  return {
    id: 'hoarding',
    reads: ['/'],
    async before({ view }): Promise<TurnAdditions> {
      const now = await readSomeFiles(
        view,
        ['MEMORY.md', 'memory/2026-11-21.md', 'SOUL.md'],
        chance,
      );
      const earlier = chance.happens(0.3) ? hoard.view() : undefined;
      const late = earlier
        ? await readSomeFiles(earlier, ['MEMORY.md', earlier.groupMemory], chance)
        : [];
      hoard.keep(now, view);
      return { system: [...hoard.some(), ...late], userContext: [...now, ...hoard.some()] };
    },
  };
}

/**
 * A feature that reads any file and ignores the audience. This cannot leak, because a view does not
 * contain what its reader may not see.
 */
export function createRelabelingSource(
  { skills, skillNames }: Pick<PrivateWorld, 'skills' | 'skillNames'>,
  pathOf: () => string,
  chance: RandomChance,
): ContextSource {
  return {
    id: 'relabelling',
    reads: ['/'],
    async gather({ view, reader }) {
      const file = await view.read(pathOf());
      const names = chance.happens(0.1) ? await view.list() : [];
      const path = chance.happens(0.5) ? undefined : pathOf();
      const skill = chance.happens(0.1)
        ? await skills.read(chance.pick(skillNames), reader, path)
        : undefined;
      const text = [JSON.stringify(file), JSON.stringify(skill), JSON.stringify(names)].join('\n');
      const part: PromptPart = { text, source: 'anything', audience: { kind: 'everyone' } };
      return {
        resources: [{ name: 'files', location: 'workspace', description: text }],
        persona: part,
      };
    },
  };
}

async function readSomeFiles(
  view: WorkspaceView,
  names: readonly string[],
  chance: RandomChance,
): Promise<readonly PromptPart[]> {
  const file = await view.read(chance.pick(names));
  return file.kind === 'file' ? [file] : [];
}
