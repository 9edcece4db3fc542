import type { ChannelProbe, ProbeEnv } from '@parley/channels/probe';
import { getAdapterInfo } from './adapter-facts.ts';
import {
  type CatalogAdapter,
  findPlatform,
  getUseSetting,
  listEnvVariableSets,
  listEnvVariables,
  listOfferedAdapters,
  PLATFORMS,
} from './catalog.ts';
import type { AccountOptions, Platform } from './platforms/platform.ts';
import { probePlatform } from './probe.ts';
import type { EnvVariables } from './settings.ts';

export { findInstallCommand } from './adapter-facts.ts';

/** A value that *Set up* asks for. */
interface SetupValue {
  /** The name of an option, or of a variable if the adapter is untested. */
  readonly key: string;
  readonly label: string;
  /** A sentence that explains the value and where to find it. */
  readonly help: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  readonly isFile?: true;
}

export interface OfferedPlatform {
  readonly channel: string;
  readonly use: string;
  readonly name: string;
  readonly needs: string;
  readonly asks: readonly SetupValue[];
  readonly notDurable: readonly string[];
  /** Present for adapters that Parley's tests do not cover. */
  readonly isUntested?: true;
}

/** The platforms that can be set up, starting with those that have tested adapters. */
export function listOfferedPlatforms(): readonly OfferedPlatform[] {
  const others = listOfferedAdapters().filter(
    (adapter) => findPlatform(getUseSetting(adapter)) === undefined,
  );
  return [...PLATFORMS.map(offerTestedPlatform), ...others.map(offerUntestedPlatform)];
}

function offerTestedPlatform(platform: Platform): OfferedPlatform {
  const { channel, use, name, setUp: needs, notDurable, asks, options } = platform;
  const secrets = new Set(
    listEnvVariables(use).flatMap(({ key, secret }) => (secret ? [key] : [])),
  );
  const needed = listRequiredOptions(platform);
  return {
    ...{ channel, use, name, needs, notDurable },
    asks: asks.map((key) => {
      const { schema, variable = '', isFile } = options[key] ?? {};
      return {
        ...{ key, label: schema?.meta()?.title ?? key, help: schema?.description ?? '' },
        ...{ isSecret: secrets.has(variable), isOptional: !needed.has(key) },
        ...(isFile && { isFile }),
      };
    }),
  };
}

/** The options that are needed for every connection mode in *Set up*. */
function listRequiredOptions({ needs, asks }: Platform): ReadonlySet<string> {
  const all = typeof needs === 'function' ? needs({}) : needs;
  const asked = all.map((ways) => ways.filter((way) => way.every((key) => asks.includes(key))));
  return new Set(asked.flatMap(([way = [], ...others]) => (others.length === 0 ? way : [])));
}

function offerUntestedPlatform(adapter: CatalogAdapter): OfferedPlatform {
  const { slug: channel, name, description } = adapter;
  const use = getUseSetting(adapter);
  const [first = []] = listEnvVariableSets(use);
  const optional = (adapter.env.optional ?? []).filter(({ secret }) => secret);
  const asks = [...first, ...optional].map((one) => ({
    ...{ key: one.key, label: one.key, help: one.description, isSecret: one.secret },
    isOptional: optional.includes(one),
  }));
  return {
    ...{ channel, use, asks, name, notDurable: [], isUntested: true },
    needs: `${description} Parley's tests do not cover the adapter ${use}; see its documentation for these values.`,
  };
}

/** The settings block of an account with the values from *Set up*. */
export function getSettingsBlock(use: string): 'options' | 'env' {
  return findPlatform(use) === undefined ? 'env' : 'options';
}

function toAccountSettings(use: string, given: AccountOptions): AccountOptions {
  return { [getSettingsBlock(use)]: given };
}

/** The problems with the values that a person entered, each described by the field's label. */
export function findValueProblems(
  { use, asks }: OfferedPlatform,
  given: AccountOptions,
  env: EnvVariables,
): readonly string[] {
  const { error } = getAdapterInfo(use, env).settings.safeParse(toAccountSettings(use, given));
  return (error?.issues ?? []).map(({ path, message }) => {
    const label = asks.find(({ key }) => key === path[1])?.label ?? path.join('.');
    return `${label}: it must be ${message}.`;
  });
}

/** Asks the platform for the bot's identity, whether or not its adapter is installed. */
export function probeEnteredValues(
  { use, name }: OfferedPlatform,
  given: AccountOptions,
  env: Pick<ProbeEnv, 'signal' | 'clock'>,
): Promise<ChannelProbe> {
  const { settings } = getAdapterInfo(use);
  const { options } = settings.parse(toAccountSettings(use, given));
  return probePlatform({ use, name, options }, env);
}

/**
 * Whether, with these values, the platform sends requests to this gateway, which then needs a
 * public URL.
 */
export function needsWebhookAddress(use: string, given: AccountOptions): boolean {
  return findPlatform(use)?.isCalled(given) ?? true;
}
