import { type ChannelIds, type IdForm, trimCopiedId } from '@parley/core';
import { z } from 'zod';

/** An adapter option, for the settings and for *Set up*. */
export interface OptionInfo {
  readonly schema: z.ZodType;
  /** The variable in the catalog that has the same value; absent if there is none. */
  readonly variable?: string;
  /** Whether the value is the content of a file. */
  readonly isFile?: true;
}

/** Describes a tested adapter and its platform. */
export interface Platform {
  readonly use: string;
  /** The tested version, which is part of the install command. */
  readonly version: string;
  readonly name: string;
  /** The channel's name in *Set up*. */
  readonly channel: string;
  /** The platform's documentation page in docs/. */
  readonly page: string;
  readonly ids: ChannelIds;
  /** False if people without access do not get an answer (F05). */
  readonly answersStrangers?: false;
  readonly options: Readonly<Record<string, OptionInfo>>;
  readonly needs:
    | readonly RequiredOptions[]
    | ((given: AccountOptions) => readonly RequiredOptions[]);
  /** Adds options that are derived from other options. */
  readonly complete?: (given: AccountOptions) => AccountOptions;
  /** Catalog variables without a matching option, with the reason. */
  readonly left: Readonly<Record<string, string>>;
  /** The options that *Set up* asks for; those outside `needs` are optional. */
  readonly asks: readonly string[];
  /** What a person needs for *Set up*, and where to get it. */
  readonly setUp: string;
  /** What cannot be guaranteed to be durable on the platform, in whole sentences (F15). */
  readonly notDurable: readonly string[];
  /** Whether the platform sends requests to this gateway, which therefore needs a public URL. */
  readonly isCalled: (given: AccountOptions) => boolean;
}

export type AccountOptions = Readonly<Record<string, unknown>>;
/** Lists of options, at least one of which must be complete. */
export type RequiredOptions = readonly (readonly string[])[];

/** The schema for a text option; `error` says what the text must be. */
export const textSchema = (title: string, help: string, error = 'text') =>
  z.string({ error }).min(1, error).optional().describe(help).meta({ title });

export const patternSchema = (title: string, help: string, pattern: RegExp, error: string) =>
  z.string({ error }).regex(pattern, error).optional().describe(help).meta({ title });

/** The schema for an id of digits, which is passed on as text. */
export const digitsSchema = (title: string, help: string, error: string) =>
  z
    .union([z.string().regex(/^\d+$/, error), z.int()], { error })
    .transform(String)
    .optional()
    .describe(help)
    .meta({ title });

export const integerSchema = (title: string, help: string, error: string) =>
  z.int({ error }).optional().describe(help).meta({ title });

export const apiUrlSchema = (help: string) =>
  z
    .url({ protocol: /^https?$/, error: 'an http or https URL' })
    .optional()
    .describe(help)
    .meta({ title: 'API server' });

export function createUserNameOption(help: string, variable?: string): OptionInfo {
  const schema = textSchema('Name of the bot', help, 'the name that people mention');
  return { schema, ...(variable !== undefined && { variable }) };
}

export const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An id format with `patterns` that each capture the id. */
export function createIdForm(
  { expected, howToFind, explain }: Pick<IdForm, 'expected' | 'howToFind' | 'explain'>,
  patterns: readonly RegExp[],
): IdForm {
  return {
    expected,
    howToFind,
    ...(explain !== undefined && { explain }),
    normalize(written) {
      const bare = trimCopiedId(written);
      for (const pattern of patterns) {
        const id = pattern.exec(bare)?.[1];
        if (id !== undefined) return id;
      }
      return null;
    },
  };
}

export const WHOAMI = 'The bot answers a stranger with their id; /whoami shows it, too';
export const LISTED =
  '"parley channels" lists the groups in which the bot was mentioned, with their ids';
