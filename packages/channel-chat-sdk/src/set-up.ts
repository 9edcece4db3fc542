import type { ChannelProbe, ProbeEnv } from '@parley/channels/probe';
import { formatInstallCommand } from '@parley/core/install-line';
import { adapterFacts } from './adapter-facts.ts';
import { type CatalogAdapter, offeredAdapters, useOf, variablesOf, waysOf } from './catalog.ts';
import { isInstalled } from './installed.ts';
import type { GivenOptions, Platform } from './platforms/platform.ts';
import { PLATFORMS, platformOf } from './platforms.ts';
import { probePlatform } from './probe.ts';

/** A value that *Set up* asks for. */
interface AskedValue {
  /** The name of an option, or of a variable if the adapter was not tested. */
  readonly key: string;
  readonly label: string;
  /** A sentence that explains the value and where to find it. */
  readonly help: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** Whether the value is the content of a file. */
  readonly isFile?: true;
}

/** A platform that *Set up* offers. */
export interface OfferedPlatform {
  /** The name of the platform's channel. */
  readonly channel: string;
  readonly use: string;
  readonly name: string;
  readonly needs: string;
  readonly asks: readonly AskedValue[];
  /** What cannot be durable on the platform. */
  readonly notDurable: readonly string[];
  /** Present for adapters that Parley's tests do not cover. */
  readonly isUntested?: true;
}

/** The platforms that can be set up, those with tested adapters first. */
export function offeredPlatforms(): readonly OfferedPlatform[] {
  const others = offeredAdapters().filter((adapter) => platformOf(useOf(adapter)) === undefined);
  return [...PLATFORMS.map(testedPlatform), ...others.map(untestedPlatform)];
}

function testedPlatform(platform: Platform): OfferedPlatform {
  const { channel, use, name, setUp: needs, notDurable, asks, options } = platform;
  const secrets = new Set(variablesOf(use).flatMap(({ key, secret }) => (secret ? [key] : [])));
  const needed = neededOf(platform);
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

/** The options that every way of connecting in *Set up* needs. */
function neededOf({ needs, asks }: Platform): ReadonlySet<string> {
  const all = typeof needs === 'function' ? needs({}) : needs;
  const asked = all.map((ways) => ways.filter((way) => way.every((key) => asks.includes(key))));
  return new Set(asked.flatMap(([way = [], ...others]) => (others.length === 0 ? way : [])));
}

function untestedPlatform(adapter: CatalogAdapter): OfferedPlatform {
  const { slug: channel, name, description } = adapter;
  const use = useOf(adapter);
  const [first = []] = waysOf(use);
  const optional = (adapter.env.optional ?? []).filter(({ secret }) => secret);
  const asks = [...first, ...optional].map((one) => ({
    ...{ key: one.key, label: one.key, help: one.description, isSecret: one.secret },
    isOptional: optional.includes(one),
  }));
  return {
    ...{ channel, use, asks, name, notDurable: [], isUntested: true },
    needs: `${description} Parley's tests do not cover the adapter ${use}; its documentation says where to find these values.`,
  };
}

/** The settings block of an account with the values from *Set up*. */
export function blockOf(use: string): 'options' | 'env' {
  return platformOf(use) === undefined ? 'env' : 'options';
}

function settingsFrom(use: string, given: GivenOptions): GivenOptions {
  return { [blockOf(use)]: given };
}

/** The problems with the values that a person entered, named by the labels of the form. */
export function problemsOf(
  { use, asks }: OfferedPlatform,
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { error } = adapterFacts(use, env).settings.safeParse(settingsFrom(use, given));
  return (error?.issues ?? []).map(({ path, message }) => {
    const label = asks.find(({ key }) => key === path[1])?.label ?? path.join('.');
    return `${label}: it must be ${message}.`;
  });
}

/** Asks the platform for the bot's identity, whether or not its adapter is installed. */
export function probeGiven(
  { use, name }: OfferedPlatform,
  given: GivenOptions,
  env: Pick<ProbeEnv, 'signal' | 'clock'>,
): Promise<ChannelProbe> {
  const { settings } = adapterFacts(use);
  const { options } = settings.parse(settingsFrom(use, given));
  return probePlatform({ use, name, options }, env);
}

/** The command that installs the adapter; undefined if it is installed. */
export function missingAdapter(use: string): string | undefined {
  const { name, version } = adapterFacts(use).library;
  return isInstalled(name) ? undefined : formatInstallCommand([`${name}@${version}`]);
}

/**
 * Whether, with these values, the platform sends requests to this gateway, which then needs a
 * public URL.
 */
export function isCalledWith(use: string, given: GivenOptions): boolean {
  return platformOf(use)?.isCalled(given) ?? true;
}
