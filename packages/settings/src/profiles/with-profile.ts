import { type Block, isBlock } from '../block.ts';
import type { ProfileSettings } from './profile-schema.ts';

/** A checked profile; `modelName` stands apart because it fills one key of the section `model`. */
export interface Profile extends Omit<ProfileSettings, 'model'> {
  readonly model?: unknown;
  readonly modelName?: string;
}

/**
 * The settings as if their author had also written what the profile says (P15). What the file itself
 * says wins, key by key; a list in the file takes the place of the profile's list, and a model in the
 * file that of the profile's model. Defaults are filled in later and so come last.
 */
export function withProfile(written: Block, profile: Profile): Block {
  const { skills, tools, plugins, model, modelName, ...agent } = profile;
  return withoutGaps({
    ...written,
    agent: under(written.agent, agent),
    skills: under(written.skills, skills),
    tools: under(written.tools, tools),
    plugins: written.plugins ?? plugins,
    model: modelOf(written.model, model, modelName),
  });
}

/** What is no block stays as it is written: the check after this says what is wrong with it. */
function under(written: unknown, profile: Block | undefined): unknown {
  if (written === undefined) return profile;
  return isBlock(written) ? { ...profile, ...written } : written;
}

function modelOf(written: unknown, model: unknown, modelName: string | undefined): unknown {
  if (written === undefined) return model;
  if (modelName === undefined || !isBlock(written)) return written;
  return { model: modelName, ...written };
}

function withoutGaps(block: Block): Block {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined));
}
