import type { ChannelIds } from '@parley/core';
import type { z } from 'zod';
import type { IdForms } from './ids.ts';
import { type Block, isBlock, type SettingsFinding } from './source.ts';

/** The key that makes a channel of the settings a hosted one. */
export const USE = 'use';

/** A channel of the settings whose code is the package that `use` names. */
interface HostedChannel {
  readonly use: string;
  /** The settings of one account, without the common keys. */
  readonly schema: z.ZodType;
  readonly ids: ChannelIds | undefined;
}

/** The channels of the file that exist because of `use`. */
export interface HostedChannels {
  readonly channels: ReadonlyMap<string, HostedChannel>;
  /** Secrets that their packages read from the environment of the process. */
  readonly secrets: readonly string[];
  /** Mistakes in `use`, which break the accounts of the channel. */
  readonly findings: readonly SettingsFinding[];
  /** Remarks on `use` that prevent nothing, such as a package that is not installed. */
  readonly warnings: readonly SettingsFinding[];
}

/** Finds the hosted channels in the section `channels`; `own` are those that exist without `use`. */
export type FindHosted = (
  channels: Block,
  own: Readonly<Record<string, z.ZodType>>,
) => HostedChannels | undefined;

const NONE: HostedChannels = { channels: new Map(), secrets: [], findings: [], warnings: [] };

/** Adds the hosted channels of a file to those that always exist. */
export function addHosted(
  section: unknown,
  options: {
    readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
    readonly channelIds?: IdForms | undefined;
    readonly findHosted?: FindHosted | undefined;
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

/** The mistakes in `use` of one channel. */
export function useFindings(
  findings: readonly SettingsFinding[],
  channel: string,
): readonly SettingsFinding[] {
  return findings.filter(({ path }) => path[1] === channel);
}
