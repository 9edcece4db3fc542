import type { z } from 'zod';
import { type Block, isBlock } from './block.ts';
import {
  ACCOUNT_NAME,
  type AccessSettings,
  type Activation,
  type AnswerSettings,
  CommonAccountSettings,
} from './channel-schema.ts';
import { check, unknownKey } from './check.ts';
import type { SettingsPath } from './path.ts';
import type { SettingsProblem } from './problem.ts';
import { type Finding, problemOf, type SettingsSource } from './source.ts';

/** One account of one channel: ready to be started, wrong, or switched off. Others are not affected. */
export type ChannelAccount =
  | {
      readonly kind: 'ok';
      readonly channel: string;
      readonly account: string;
      readonly access: AccessSettings;
      readonly activation: Activation;
      readonly answers: AnswerSettings;
      readonly whenUncertain: 'tell' | 'resend';
      /** What the channel's own schema made of the rest. */
      readonly settings: unknown;
    }
  | {
      readonly kind: 'broken';
      readonly channel: string;
      readonly account: string;
      readonly problems: readonly SettingsProblem[];
    }
  | { readonly kind: 'disabled'; readonly channel: string; readonly account: string };

/** Accounts by `channel/account`, and the warnings about all of them. */
export interface CheckedChannels {
  readonly accounts: Readonly<Record<string, ChannelAccount>>;
  readonly warnings: readonly SettingsProblem[];
}

/** Looks up the reference problems at or below a path; they break the account they belong to. */
export type ReferenceFindings = (path: SettingsPath) => readonly Finding[];

interface Account {
  readonly channel: string;
  readonly account: string;
  readonly path: SettingsPath;
  readonly written: unknown;
}

const BLOCK = 'a block of `key: value` lines';

/** Checks each account by itself. A channel without a schema is an unknown key. */
export function checkChannels(
  channels: Readonly<Record<string, unknown>>,
  schemas: Readonly<Record<string, z.ZodType>>,
  references: ReferenceFindings,
  source: SettingsSource,
): CheckedChannels {
  const accounts: Record<string, ChannelAccount> = {};
  const warnings: SettingsProblem[] = [];
  for (const [channel, section] of Object.entries(channels)) {
    const schema = Object.hasOwn(schemas, channel) ? schemas[channel] : undefined;
    if (schema === undefined) {
      warnings.push(unknownKey(['channels', channel], source));
      continue;
    }
    for (const entry of accountsOf(channel, section)) {
      const result = checkAccount(entry, section, schema, references, source);
      accounts[`${entry.channel}/${entry.account}`] = result.account;
      warnings.push(...result.warnings);
    }
  }
  return { accounts, warnings };
}

function accountsOf(channel: string, section: unknown): Account[] {
  const path = ['channels', channel];
  if (!isBlock(section) || !Object.hasOwn(section, 'accounts')) {
    return [{ channel, account: 'default', path, written: section }];
  }
  const inside = [...path, 'accounts'];
  if (!isBlock(section.accounts)) {
    return [{ channel, account: 'default', path: inside, written: section.accounts }];
  }
  return Object.entries(section.accounts).map(([account, written]) => ({
    channel,
    account,
    path: [...inside, account],
    written,
  }));
}

function checkAccount(
  entry: Account,
  section: unknown,
  schema: z.ZodType,
  references: ReferenceFindings,
  source: SettingsSource,
): { account: ChannelAccount; warnings: readonly SettingsProblem[] } {
  const { channel, account, path, written } = entry;
  const broken = (problems: readonly SettingsProblem[], warnings: readonly SettingsProblem[]) => ({
    account: { kind: 'broken' as const, channel, account, problems },
    warnings,
  });
  if (!isBlock(written)) {
    return broken([problemOf({ kind: 'value', path, expected: BLOCK }, source)], []);
  }
  const [commonKeys, ownKeys] = split(written);
  const common = check(CommonAccountSettings, commonKeys, path, source);
  if (written.enabled === false || (common.kind === 'ok' && !common.value.enabled)) {
    return { account: { kind: 'disabled', channel, account }, warnings: common.warnings };
  }
  const own = check(schema, ownKeys, path, source);
  const warnings = [...common.warnings, ...own.warnings];
  const findings = [...misplaced(entry, section), ...references(path)];
  if (common.kind === 'ok' && own.kind === 'ok' && findings.length === 0) {
    const { enabled: _, ...rules } = common.value;
    return { account: { kind: 'ok', channel, account, ...rules, settings: own.value }, warnings };
  }
  const early = findings.map((finding) => problemOf(finding, source));
  const told = new Set(early.map((problem) => problem.path));
  const late = [common, own].flatMap((checked) => (checked.kind === 'bad' ? checked.problems : []));
  return broken([...early, ...late.filter((problem) => !told.has(problem.path))], warnings);
}

/** Mistakes of the form, which no account's schema can see. */
function misplaced({ account, path }: Account, section: unknown): Finding[] {
  const findings: Finding[] = [];
  if (!ACCOUNT_NAME.test(account)) {
    const expected =
      'an account name of lower-case letters, digits, - and _, at most 32 characters';
    findings.push({ kind: 'value', path, expected });
  }
  if (path.length > 2 && isBlock(section)) {
    // Silently ignoring `access: …` here would open or close an account against its owner's will.
    for (const key of Object.keys(section).filter((key) => key !== 'accounts')) {
      const expected = `this inside each account, not beside \`accounts\``;
      findings.push({ kind: 'value', path: [...path.slice(0, 2), key], expected });
    }
  }
  return findings;
}

function split(written: Block): [common: object, own: object] {
  const entries = Object.entries(written);
  const isCommon = ([key]: [string, unknown]) => Object.hasOwn(CommonAccountSettings.shape, key);
  return [
    Object.fromEntries(entries.filter(isCommon)),
    Object.fromEntries(entries.filter((entry) => !isCommon(entry))),
  ];
}
