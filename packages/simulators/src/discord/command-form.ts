import { z } from 'zod';

const Option: z.ZodType<CommandOption> = z.lazy(() =>
  z.looseObject({
    type: z.number(),
    name: z.string().regex(/^[-_'\p{L}\p{N}]{1,32}$/u),
    description: z.string().min(1).max(100),
    required: z.boolean().optional(),
    options: z.array(Option).max(25).optional(),
  }),
);
export const CommandForm = z.looseObject({
  name: z.string().regex(/^[-_'\p{L}\p{N}]{1,32}$/u, 'Command name is invalid'),
  description: z.string().min(1).max(100),
  type: z.number().default(1),
  options: z.array(Option).max(25).default([]),
  /**
   * 0: installed in a guild, 1: installed on a user's account; both integration types when absent.
   */
  integration_types: z
    .array(z.union([z.literal(0), z.literal(1)]))
    .min(1)
    .optional(),
  /**
   * 0: guilds, 1: direct messages with the bot, 2: other private channels; all contexts when
   * absent.
   */
  contexts: z
    .array(z.union([z.literal(0), z.literal(1), z.literal(2)]))
    .min(1)
    .nullish(),
});

/** One parameter or subcommand of a command. */
export interface CommandOption {
  readonly type: number;
  readonly name: string;
  readonly description: string;
  readonly required?: boolean | undefined;
  readonly options?: readonly CommandOption[] | undefined;
}

export type Command = z.infer<typeof CommandForm> & {
  readonly id: string;
  readonly application_id: string;
  readonly version: string;
  readonly guild_id?: string;
};
