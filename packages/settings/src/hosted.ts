import type { ChannelIds } from '@parley/core';
import { z } from 'zod';
import type { IdForms } from './ids.ts';
import {
  type Block,
  type Finding,
  isBlock,
  type SettingsPath,
  type SettingsProblem,
} from './source.ts';

/** A remark on `use` that does not prevent anything, such as a package that is not installed. */
export interface HostedRemark {
  readonly kind: Extract<SettingsProblem['kind'], 'not-installed'>;
  readonly expected: string;
  readonly nearest?: string | undefined;
}

/** What is known about a channel whose code is the package that its settings name with `use`. */
export type HostedChannel =
  | {
      readonly kind: 'hosted';
      /** The settings of one account, without `use` and the common keys. */
      readonly schema: z.ZodType;
      readonly ids: ChannelIds | undefined;
      readonly remarks: readonly HostedRemark[];
      /** Secrets that the package reads from the environment of the process. */
      readonly secrets: readonly string[];
    }
  | { readonly kind: 'refused'; readonly expected: string; readonly nearest?: string | undefined };

/** Describes the channel for the value of `use`. Called only for channels that have it. */
export type HostChannel = (use: string) => HostedChannel;

export interface HostedOptions {
  /** The channels that exist without `use`. */
  readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
  readonly channelIds?: IdForms | undefined;
  readonly hostChannel?: HostChannel | undefined;
}

/** The channels of the file that exist because of `use`, added to those that always exist. */
export interface HostedChannels {
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  readonly ids: IdForms | undefined;
  /** The value of `use` by channel. */
  readonly uses: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Mistakes that break the accounts of a channel. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Chat ids and addresses contain the name. `api` is Parley's own channel for programs. */
const NAME = /^(?!(?:api|beat|sub)$)[a-z][a-z0-9-]{0,31}$/;
const NAME_EXPECTED =
  'below a name of lower-case letters, digits and -, at most 32 characters, other than api, beat and sub';

/** The key that makes a channel a hosted one. */
export const USE = 'use';

/** Finds the channels that the settings define themselves with `use`. Pure but for `hostChannel`. */
export function readHosted(root: Block, options: HostedOptions): HostedChannels {
  const { channelSchemas: own, hostChannel } = options;
  const schemas: Record<string, z.ZodType> = { ...own };
  const ids: Record<string, ChannelIds | undefined> = { ...options.channelIds };
  const uses: Record<string, string> = {};
  const secrets: string[] = [];
  const findings: Finding[] = [];
  const warnings: Finding[] = [];
  const sections = isBlock(root.channels) ? Object.entries(root.channels) : [];
  for (const [channel, section] of sections) {
    if (hostChannel === undefined || !isBlock(section) || !Object.hasOwn(section, USE)) continue;
    if (Object.hasOwn(own, channel) && hasOwnUse(own[channel])) continue;
    const path = ['channels', channel, USE];
    const hosted = describeChannel(channel, section.use, { own, hostChannel });
    if (hosted.kind === 'refused') {
      findings.push({ kind: 'value', path, ...withoutKind(hosted) });
      continue;
    }
    schemas[channel] = hosted.schema;
    ids[channel] = hosted.ids;
    uses[channel] = String(section.use);
    secrets.push(...hosted.secrets);
    if (section.enabled !== false)
      warnings.push(...hosted.remarks.map((remark) => ({ path, ...remark })));
  }
  const known = options.channelIds === undefined ? undefined : ids;
  return { schemas, ids: known, uses, secrets, findings, warnings };
}

function describeChannel(
  channel: string,
  use: unknown,
  { own, hostChannel }: { readonly own: object; readonly hostChannel: HostChannel },
): HostedChannel {
  if (Object.hasOwn(own, channel)) {
    const expected = `absent, because ${channel} is a channel that Parley has without it; give the hosted one another name, such as ${channel}-2`;
    return { kind: 'refused', expected };
  }
  if (!NAME.test(channel)) return { kind: 'refused', expected: NAME_EXPECTED };
  if (typeof use !== 'string' || !PACKAGE.test(use)) {
    const expected = 'the npm package of a Chat SDK adapter, such as @chat-adapter/slack';
    return { kind: 'refused', expected };
  }
  return hostChannel(use);
}

/** A package, or a module of one: `@chat-adapter/x/chat`. */
const PACKAGE = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:\/[\w.~-]+)*$/;

/** Whether the channel of a plugin has a setting of its own with this name. */
function hasOwnUse(schema: z.ZodType | undefined): boolean {
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, USE);
}

function withoutKind({ expected, nearest }: Extract<HostedChannel, { kind: 'refused' }>) {
  return { expected, ...(nearest !== undefined && { nearest }) };
}

/** The mistakes in `use` of one channel. */
export function useFindings(findings: readonly Finding[], channel: string): readonly Finding[] {
  const isUse = (path: SettingsPath): boolean =>
    path.length === 3 && path[0] === 'channels' && path[1] === channel && path[2] === USE;
  return findings.filter(({ path }) => isUse(path));
}
