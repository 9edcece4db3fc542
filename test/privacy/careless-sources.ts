import type { PromptPart } from '@parley/contracts';
import type { ContextSource, PromptFeatures } from '@parley/prompt';
import { SkillSnapshot, type Skills, type WorkspaceView } from '@parley/workspace';
import type { Chance } from './chance.ts';
import type { PrivateWorld } from './private-world.ts';

/** Keeps what it was shown, from turn to turn, as a cache that forgot for whom it was made. */
export interface Hoard {
  keep(parts: readonly PromptPart[], view: WorkspaceView): void;
  /** Something of earlier turns, with the audience it had then. */
  some(): readonly PromptPart[];
  /** A view that somebody had in an earlier turn. */
  view(): WorkspaceView | undefined;
}

/** An empty one. */
export function createHoard(chance: Chance): Hoard {
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

/** Fields of which each is one part. */
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
 * A feature with a fault: it hands on what it was shown in other turns, mixed with what belongs to this
 * one, each part with its own audience. The layers have to take the strictest of them.
 */
export function hoardingSource(hoard: Hoard, chance: Chance): ContextSource {
  return {
    id: 'hoarding',
    async gather({ view }) {
      if (chance.happens(0.5)) return {};
      const now = await readSome(view, ['MEMORY.md', 'AGENTS.md', 'notes.md'], chance);
      const features: { -readonly [Field in keyof PromptFeatures]: PromptFeatures[Field] } = {};
      for (const field of SINGLE) {
        const part = [...now, ...hoard.some()].at(chance.below(3));
        if (part !== undefined && chance.happens(0.3)) features[field] = part;
      }
      features.memories = [...now, ...hoard.some()];
      features.knowledge = [...hoard.some(), ...now];
      const earlier = hoard.view();
      const late = earlier ? await readSome(earlier, ['MEMORY.md', 'USER.md'], chance) : [];
      if (chance.happens(0.3)) features.memories = [...late, ...now];
      hoard.keep(now, view);
      return features;
    },
  };
}

/**
 * A feature that reads whatever it likes and forgets for whom it was. Nothing can come of it, because
 * a view does not hold what its reader may not see.
 */
export function relabellingSource(
  { skills, skillNames }: Pick<PrivateWorld, 'skills' | 'skillNames'>,
  pathOf: () => string,
  chance: Chance,
): ContextSource {
  return {
    id: 'relabelling',
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

/** The skills of a session, fixed by its first turn (S07). */
export function skillsSource(skills: Skills): ContextSource {
  return {
    id: 'skills',
    async gather({ reader, fix }) {
      const now = await skills.snapshot(reader);
      return { skills: fix === undefined ? now : await fix('skills', now, SkillSnapshot) };
    },
  };
}

async function readSome(
  view: WorkspaceView,
  names: readonly string[],
  chance: Chance,
): Promise<readonly PromptPart[]> {
  const file = await view.read(chance.pick(names));
  return file.kind === 'file' ? [file] : [];
}
