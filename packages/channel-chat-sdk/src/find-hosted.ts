import type { Block, HostedChannels, SettingsFinding } from '@parley/settings';
import { z } from 'zod';
import {
  type AdapterInfo,
  findInstallCommand,
  getAdapterInfo,
  listAdapterNames,
} from './adapter-facts.ts';
import type { EnvVariables } from './settings.ts';

export interface HostDeps {
  readonly env: EnvVariables;
  /** The candidate that was most likely meant; undefined if none is similar. */
  readonly nearestWord: (written: string, candidates: Iterable<string>) => string | undefined;
}

type AdapterVerdict =
  | { readonly kind: 'hosted'; readonly facts: AdapterInfo; readonly remark?: FindingRemark }
  | ({ readonly kind: 'refused' } & FindingRemark);
type FindingRemark = Pick<SettingsFinding, 'expected' | 'nearest'>;

/**
 * A channel's name becomes part of chat ids and addresses. `api` is Parley's own channel for
 * programs.
 */
const NAME = /^(?!(?:api|beat|sub)$)[a-z][a-z0-9-]{0,31}$/;
const NAME_EXPECTED =
  'below a name of lower-case letters, digits and -, at most 32 characters, other than api, beat and sub';
/** A package, or a module inside a package: `@chat-adapter/x/chat`. */
const PACKAGE = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:\/[\w.~-]+)*$/;

/**
 * Finds the channels that the `channels` section of the settings defines by naming a Chat SDK
 * adapter in `use` (F15). `own` contains the built-in channels and those from plugins.
 */
export function resolveHostedChannels(
  sections: Block,
  own: Readonly<Record<string, z.ZodType>>,
  deps: HostDeps,
): HostedChannels {
  const channels = new Map<string, ReturnType<typeof createHostedChannel>>();
  const secrets: string[] = [];
  const findings: SettingsFinding[] = [];
  const warnings: SettingsFinding[] = [];
  for (const [channel, section] of Object.entries(sections)) {
    const written = Object(section) as Block;
    if (!Object.hasOwn(written, 'use') || hasOwnUse(own, channel)) continue;
    const path = ['channels', channel, 'use'];
    const verdict = evaluateChannel(channel, written.use, own, deps);
    if (verdict.kind === 'refused') {
      const { expected, nearest } = verdict;
      findings.push({ kind: 'value', path, expected, nearest });
      continue;
    }
    const { facts, remark } = verdict;
    channels.set(channel, createHostedChannel(facts));
    secrets.push(...facts.secrets);
    if (remark !== undefined && written.enabled !== false)
      warnings.push({ kind: 'not-installed', path, ...remark });
  }
  return { channels, secrets, findings, warnings };
}

function createHostedChannel({ use, settings: schema, platform }: AdapterInfo) {
  return { use, schema, ids: platform?.ids };
}

/** Whether a plugin's channel has its own `use` setting. */
function hasOwnUse(own: Readonly<Record<string, z.ZodType>>, channel: string): boolean {
  const schema = Object.hasOwn(own, channel) ? own[channel] : undefined;
  return schema instanceof z.ZodObject && Object.hasOwn(schema.shape, 'use');
}

function evaluateChannel(
  channel: string,
  use: unknown,
  own: object,
  { env, nearestWord }: HostDeps,
): AdapterVerdict {
  const refused = (expected: string, nearest?: string): AdapterVerdict => {
    return { kind: 'refused', expected, nearest };
  };
  if (Object.hasOwn(own, channel)) {
    return refused(
      `absent, because ${channel} is a channel that Parley has without it; give the hosted one another name, such as ${channel}-2`,
    );
  }
  if (!NAME.test(channel)) return refused(NAME_EXPECTED);
  if (typeof use !== 'string' || !PACKAGE.test(use))
    return refused('the npm package of a Chat SDK adapter, such as @chat-adapter/slack');
  const facts = getAdapterInfo(use, env);
  const { isKnown, refusal } = facts;
  if (refusal !== undefined) return refused(refusal);
  const command = findInstallCommand(use);
  if (command === undefined) return { kind: 'hosted', facts };
  const meant = isKnown ? undefined : guessAdapter(use, nearestWord);
  // A misspelled name may belong to a stranger's package, so Parley does not offer to install such
  // a package.
  if (meant !== undefined) return refused('an installed adapter', meant);
  const remark = { expected: `a package that is installed; "${command}" installs it` };
  return { kind: 'hosted', facts, remark };
}

/** The catalog adapter that was probably meant; undefined if none is similar. */
function guessAdapter(use: string, nearestWord: HostDeps['nearestWord']): string | undefined {
  const names = listAdapterNames();
  // Packages outside the scope `@chat-adapter` often have names that consist of `chat-adapter-` and
  // the platform.
  const last = use.slice(use.lastIndexOf('/') + 1).replace(/^chat-(?:sdk-)?adapter-?/, '');
  return last === '' ? undefined : names.get(nearestWord(last, names.keys()) ?? '');
}
