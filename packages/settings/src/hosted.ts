import type { ChannelIds } from '@parley/core';
import type { z } from 'zod';
import type { IdForms } from './ids.ts';
import { type Block, isBlock, type SettingsFinding } from './source.ts';

/** The key that makes a channel in the settings a hosted channel. */
export const USE = 'use';

/** A channel in the settings whose code is the package that `use` names. */
interface HostedChannel {
  readonly use: string;
  /** The settings of one account, without the common keys. */
  readonly schema: z.ZodType;
  readonly ids: ChannelIds | undefined;
}

/** The channels in the file that exist because of `use`. */
export interface HostedChannels {
  readonly channels: ReadonlyMap<string, HostedChannel>;
  /** Secrets that the channels' packages read from the environment of the process. */
  readonly secrets: readonly string[];
  /** Mistakes in `use`, which break the accounts of the channel. */
  readonly findings: readonly SettingsFinding[];
  /** Remarks on `use` that do not prevent a start, for example that a package is not installed. */
  readonly warnings: readonly SettingsFinding[];
}

/**
 * Finds the hosted channels in the `channels` section; `own` are those that exist without `use`.
 */
export type FindHostedChannels = (
  channels: Block,
  own: Readonly<Record<string, z.ZodType>>,
) => HostedChannels | undefined;

const NONE: HostedChannels = { channels: new Map(), secrets: [], findings: [], warnings: [] };

/** Adds the hosted channels of a file to those that always exist. */
export function addHostedChannels(
  section: unknown,
  options: {
    readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
    readonly channelIds?: IdForms | undefined;
    readonly findHosted?: FindHostedChannels | undefined;
  },
) {
  const { channelSchemas, channelIds, findHosted } = options;
  const found = (isBlock(section) && findHosted?.(section, channelSchemas)) || NONE;
  const mapped = <T>(of: (one: HostedChannel) => T) =>
    Object.fromEntries([...found.channels].map(([id, one]) => [id, of(one)]));
  return {
    ...found,
    schemas: { ...channelSchemas, ...mapped(({ schema }) => schema) },
    ids: channelIds && { ...channelIds, ...mapped(({ ids }) => ids) },
    uses: mapped(({ use }) => use),
  };
}

/** Finds the mistakes in one channel's `use`. */
export function listUseFindings(
  findings: readonly SettingsFinding[],
  channel: string,
): readonly SettingsFinding[] {
  return findings.filter(({ path }) => path[1] === channel);
}
