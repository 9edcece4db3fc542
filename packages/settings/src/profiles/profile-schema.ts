import { z } from 'zod';
import { CoreSettings } from '../core-schema.ts';

const { layout, persona, format, memory, skipContextFiles, ephemeral } =
  CoreSettings.shape.agent.unwrap().shape;

const Names = z.array(z.string().min(1));

/**
 * One profile file (P15): what an agent is, in one place. Each key means what the key of the same
 * name means in the settings; nothing has a default here, so that what is left out stays open.
 */
export const ProfileSettings = z.strictObject({
  layout,
  persona,
  format,
  memory,
  skipContextFiles,
  ephemeral,
  skills: z
    .strictObject({
      allow: Names.optional(),
      block: Names.optional(),
      show: z.enum(['outline', 'inline']).optional(),
    })
    .optional(),
  tools: z.strictObject({ allow: Names.optional(), block: Names.optional() }).optional(),
  plugins: CoreSettings.shape.plugins.unwrap().optional(),
  /** A block as in the settings, or the name of a model of the provider that the settings name. */
  model: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).optional(),
});
export type ProfileSettings = z.input<typeof ProfileSettings>;
