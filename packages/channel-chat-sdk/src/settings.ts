import { z } from 'zod';
import {
  findCatalogAdapter,
  findPlatform,
  listEnvVariableSets,
  listEnvVariables,
} from './catalog.ts';
import type { AccountOptions, Platform } from './platforms/platform.ts';

export type EnvVariables = Readonly<Record<string, string | undefined>>;

/** The settings of one account whose channel uses a Chat SDK adapter. */
export interface ChatSdkSettings {
  readonly use: string;
  /** The argument of the adapter's factory. */
  readonly options: AccountOptions;
  /**
   * Variables that are set in `process.env` while the adapter's factory runs, for adapters that
   * read their secrets only from there.
   */
  readonly env: Readonly<Record<string, string>>;
}

const OPTIONS = "The adapter's options, as named in its documentation.";

/** The settings for any adapter, for the schema of the settings file. */
export const AnyAdapterSettings = z
  .strictObject({
    options: z
      .record(z.string(), z.unknown())
      .default({})
      .describe(OPTIONS)
      .meta({ title: 'Adapter options' }),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        'Environment variables for an adapter that reads its secrets only from the environment. Only this adapter sees them.',
      )
      .meta({ title: 'Adapter variables' }),
  })
  .describe('A platform connected by a Chat SDK adapter.')
  .meta({ title: 'Chat SDK platform' });

/**
 * The schema of an account that uses the adapter `use`. The options of tested adapters are
 * validated; those of other adapters are passed on unchanged. `env` is the environment of this
 * process; without it, missing variables are not reported.
 */
export function createChatSdkSchema(use: string, env?: EnvVariables): z.ZodType<ChatSdkSettings> {
  const platform = findPlatform(use);
  return platform === undefined ? createUntestedSchema(use, env) : createTestedSchema(platform);
}

const useOf = (use: string) =>
  z
    .literal(use)
    .default(use)
    .describe("The adapter's npm package.")
    .meta({ title: 'Adapter package' });

function createTestedSchema(platform: Platform): z.ZodType<ChatSdkSettings> {
  const { use, name, options, complete } = platform;
  const shape = Object.entries(options).map(([key, { schema }]) => [key, schema] as const);
  const Options = z
    .strictObject(Object.fromEntries(shape))
    .superRefine((given, context) => {
      for (const [key, message] of findMissingOptions(platform, given)) {
        context.addIssue({ code: 'custom', path: [key], message });
      }
    })
    .transform((given) => complete?.(given) ?? given)
    .prefault({})
    .describe(`Options for the ${name} adapter.`)
    .meta({ title: 'Adapter options' });
  return z
    .strictObject({ use: useOf(use), options: Options, env: NoVariables })
    .describe(`${name}, through the adapter ${use}.`)
    .meta({ title: name });
}

/** Tested adapters accept all of their settings as options. */
const NoVariables = z
  .strictObject({})
  .default({})
  .describe('Not needed: this adapter accepts all of its settings as options.')
  .meta({ title: 'Adapter variables' });

/** The missing options, each with a description of its value. Pure. */
function findMissingOptions(
  { options, needs }: Pick<Platform, 'options' | 'needs'>,
  given: AccountOptions,
): readonly (readonly [key: string, expected: string])[] {
  const has = (key: string): boolean => given[key] !== undefined && given[key] !== false;
  const all = typeof needs === 'function' ? needs(given) : needs;
  return all.flatMap((ways) => {
    if (ways.some((way) => way.every(has))) return [];
    // If a person has begun to enter one set of options, the alternatives are not mentioned.
    const begun = ways.find((way) => way.some(has));
    const way = begun ?? ways[0] ?? [];
    const others = begun === undefined ? ways.filter((one) => one !== way) : [];
    const instead = others.map((keys) => `, or ${keys.join(' and ')} instead`).join('');
    return way
      .filter((key) => !has(key))
      .map((key) => [key, `${describeOption(key, options[key])}${instead}`] as const);
  });
}

function describeOption(key: string, facts: Platform['options'][string] | undefined): string {
  const title = facts?.schema.meta()?.title ?? key;
  const name = /^[A-Z][a-z]/.test(title)
    ? `${title.charAt(0).toLowerCase()}${title.slice(1)}`
    : title;
  const example = facts?.variable === undefined ? '' : `, such as \${${facts.variable}}`;
  return `the ${name}${example}`;
}

function createUntestedSchema(
  use: string,
  env: EnvVariables | undefined,
): z.ZodType<ChatSdkSettings> {
  const name = findCatalogAdapter(use)?.name ?? use;
  return z
    .strictObject({ use: useOf(use), ...AnyAdapterSettings.shape })
    .superRefine(({ options, env: own }, context) => {
      // Only the adapter knows the names of its options.
      if (env === undefined || Object.keys(options).length > 0) return;
      const has = ({ key, aliases = [] }: { key: string; aliases?: readonly string[] }) =>
        [key, ...aliases].some((one) => (own[one] ?? env[one] ?? '') !== '');
      const ways = listEnvVariableSets(use);
      if (ways.length === 0 || ways.some((way) => way.every(has))) return;
      const texts = ways.map((way) => way.filter((one) => !has(one)).map(({ key }) => key));
      const list = texts.map((keys) => keys.join(' and ')).join(', or ');
      const message = `a block with ${list}; you can also set them in the environment or as options`;
      context.addIssue({ code: 'custom', path: ['env'], message });
    })
    .describe(`${name}, through the adapter ${use}, which Parley's tests do not cover.`)
    .meta({ title: name });
}

/** The secrets that an adapter reads from this process's environment. */
export function listSecretsFromEnvironment(use: string, env: EnvVariables): readonly string[] {
  return listEnvVariables(use).flatMap(({ key, secret, aliases = [] }) =>
    secret ? [key, ...aliases].flatMap((name) => env[name] || []) : [],
  );
}
