import { z } from 'zod';
import { checkValue, createUnknownKeyProblem } from './check.ts';
import { defineChoice, defineSection, flag, numberField, wholeNumber } from './fields.ts';
import { type addHostedChannels, listUseFindings, USE } from './hosted.ts';
import {
  type Block,
  isBlock,
  type SettingsFinding,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  toSettingsProblem,
} from './source.ts';

/** YAML parses an unquoted platform id as a number, but all other code treats it as text. */
const PlatformId = z.union([z.string().min(1), z.int()]).transform(String);

/**
 * Who may write to the bot on one account (F05); by default, only owners and people whom they
 * allow.
 */
export const AccessSettings = z.strictObject({
  direct: defineChoice(
    ['pairing', 'allowlist', 'open', 'disabled'],
    'Access to direct chats. pairing: people in `allow`, and people whom an owner allows with a code. allowlist: only people in `allow`. open: everyone. disabled: only owners.',
  ),
  pairing: defineSection('Pairing codes for `direct: pairing`.', {
    characters: wholeNumber({ min: 6, max: 16, default: 8 }, 'Length of a code.'),
    minutes: wholeNumber({ min: 1, max: 7 * 24 * 60, default: 60 }, 'How long a code is valid.'),
    pending: wholeNumber(
      { min: 1, max: 100, default: 3 },
      'Maximum number of strangers that can wait at the same time; further strangers are asked to try again later.',
    ),
  }),
  groups: defineChoice(
    ['allowlist', 'open', 'disabled'],
    'Groups in which the bot answers: those in `allowGroups`, all, or none.',
  ),
  allow: z.array(PlatformId).default([]).describe('User ids on the platform.'),
  allowGroups: z.array(PlatformId).default([]).describe('Group ids on the platform.'),
  allowRoles: z
    .array(PlatformId)
    .default([])
    .describe(
      'Role ids of Discord servers. If any are set, only members with one of these roles, and owners, may write in groups.',
    ),
  groupCommands: z
    .enum(['owners', 'approvers', 'administrators', 'everyone'])
    .default('administrators')
    .describe(
      "Who may use commands in groups that change the conversation for the whole group: /new, /mode, /run, /compact, /rewind, and /stop for other people's requests. owners; approvers: owners and approvals.approvers; administrators: approvers and the administrators of the group on the platform; everyone.",
    ),
});
export type AccessSettings = z.infer<typeof AccessSettings>;

/** When the bot answers in a group (F06). */
export const Activation = z.enum(['mention', 'always', 'never']);
export type Activation = z.infer<typeof Activation>;

/** How answers are displayed on one account, within what an operator can decide. */
export const AnswerSettings = z.strictObject({
  mentions: defineChoice(
    ['dead', 'live'],
    'dead: names in answers are shown but do not notify anyone. live: they notify people.',
  ),
  editSeconds: numberField(
    { min: 1, max: 60, default: 1 },
    'Minimum time between edits of a growing answer; platforms with a longer minimum (Discord 1.2 s, Telegram groups 3 s and more) use their own.',
  ),
  numbered: flag(false, 'Long answers number their parts: (2/5).'),
  acknowledge: z
    .string()
    .min(1)
    .max(16)
    .optional()
    .describe(
      'An emoji such as 👀, used as a reaction to a message that takes longer than a moment to answer.',
    ),
});
export type AnswerSettings = z.infer<typeof AnswerSettings>;

/** The keys that every channel account has; all others belong to the channel's own schema. */
export const CommonAccountSettings = z.strictObject({
  enabled: flag(true, 'false: keep the settings, but do not connect.'),
  access: AccessSettings.prefault({}).describe('Who may write to the bot on this account.'),
  activation: Activation.default('mention').describe('When the bot answers in groups.'),
  answers: AnswerSettings.prefault({}).describe('How answers look on this account.'),
  whenUncertain: defineChoice(
    ['notify', 'resend'],
    'What to do if a part of an answer may or may not have arrived and the platform does not recognize repetitions. notify: the chat is notified and can have the part sent again. resend: the part is sent again at once and may appear twice.',
  ),
});

/** The format of an account's name, which is part of URLs, keys and logs. */
export const ACCOUNT_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/**
 * One account of one channel: ready to start, broken, or disabled, without effect on other
 * accounts.
 */
export type ChannelAccount =
  | {
      readonly kind: 'ok';
      readonly channel: string;
      readonly account: string;
      readonly access: AccessSettings;
      readonly activation: Activation;
      readonly answers: AnswerSettings;
      readonly whenUncertain: 'notify' | 'resend';
      /** The account's remaining keys, parsed by the channel's own schema. */
      readonly settings: unknown;
    }
  | {
      readonly kind: 'broken';
      readonly channel: string;
      readonly account: string;
      readonly problems: readonly SettingsProblem[];
    }
  | { readonly kind: 'disabled'; readonly channel: string; readonly account: string };

/** Accounts by `channel/account`, and the warnings for all accounts. */
export interface CheckedChannels {
  readonly accounts: Readonly<Record<string, ChannelAccount>>;
  readonly warnings: readonly SettingsProblem[];
}

/** Finds the reference problems at or below a path; they break the account to which they belong. */
export type ReferenceFindings = (path: SettingsPath) => readonly SettingsFinding[];

interface RawAccount {
  readonly channel: string;
  readonly account: string;
  readonly path: SettingsPath;
  readonly written: unknown;
}

const BLOCK = 'a block of `key: value` lines';

/**
 * Checks each account separately. A channel without a schema is treated as an unknown key, unless
 * only its `use` is wrong.
 */
export function checkChannels(
  channels: Readonly<Record<string, unknown>>,
  {
    schemas,
    uses,
    findings,
  }: Pick<ReturnType<typeof addHostedChannels>, 'schemas' | 'uses' | 'findings'>,
  references: ReferenceFindings,
  source: SettingsSource,
): CheckedChannels {
  const accounts: Record<string, ChannelAccount> = {};
  const warnings: SettingsProblem[] = [];
  for (const [channel, section] of Object.entries(channels)) {
    const refused = listUseFindings(findings, channel);
    const schema = Object.hasOwn(schemas, channel) ? schemas[channel] : undefined;
    if (schema === undefined && refused.length === 0) {
      warnings.push(createUnknownKeyProblem(['channels', channel], source));
      continue;
    }
    const isHosted = Object.hasOwn(uses, channel);
    for (const entry of readAccounts(channel, section, isHosted || refused.length > 0)) {
      if (schema === undefined || refused.length > 0) {
        accounts[`${channel}/${entry.account}`] = createBrokenAccount(entry, refused, source);
        continue;
      }
      const result = checkAccount(entry, { section, isHosted }, schema, references, source);
      accounts[`${entry.channel}/${entry.account}`] = result.account;
      warnings.push(...result.warnings);
    }
  }
  return { accounts, warnings };
}

/** Reads a channel's accounts. The `use` of a hosted channel applies to all of its accounts. */
function readAccounts(channel: string, section: unknown, isHosted: boolean): RawAccount[] {
  const path = ['channels', channel];
  if (!isBlock(section) || !Object.hasOwn(section, 'accounts')) {
    const { [USE]: _, ...rest } = isBlock(section) ? section : {};
    return [{ channel, account: 'default', path, written: isHosted ? rest : section }];
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

function createBrokenAccount(
  { channel, account, written }: RawAccount,
  refused: readonly SettingsFinding[],
  source: SettingsSource,
): ChannelAccount {
  if (isBlock(written) && written.enabled === false) return { kind: 'disabled', channel, account };
  const problems = refused.map((finding) => toSettingsProblem(finding, source));
  return { kind: 'broken', channel, account, problems };
}

function checkAccount(
  entry: RawAccount,
  { section, isHosted }: { readonly section: unknown; readonly isHosted: boolean },
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
    return broken([toSettingsProblem({ kind: 'value', path, expected: BLOCK }, source)], []);
  }
  const [commonKeys, ownKeys] = splitCommonSettings(written);
  const common = checkValue(CommonAccountSettings, commonKeys, path, source);
  if (written.enabled === false || (common.kind === 'ok' && !common.value.enabled)) {
    return { account: { kind: 'disabled', channel, account }, warnings: common.warnings };
  }
  const own = checkValue(schema, ownKeys, path, source);
  const warnings = [...common.warnings, ...own.warnings];
  const findings = [...findMisplacedSettings(entry, section, isHosted), ...references(path)];
  if (common.kind === 'ok' && own.kind === 'ok' && findings.length === 0) {
    const { enabled: _, ...rules } = common.value;
    return { account: { kind: 'ok', channel, account, ...rules, settings: own.value }, warnings };
  }
  const early = findings.map((finding) => toSettingsProblem(finding, source));
  const known = new Set(early.map((problem) => problem.path));
  const late = [common, own].flatMap((checked) => (checked.kind === 'bad' ? checked.problems : []));
  return broken([...early, ...late.filter((problem) => !known.has(problem.path))], warnings);
}

/** Finds structural mistakes that no account's schema can detect. */
function findMisplacedSettings(
  { account, path }: RawAccount,
  section: unknown,
  isHosted: boolean,
): SettingsFinding[] {
  const findings: SettingsFinding[] = [];
  if (!ACCOUNT_NAME.test(account)) {
    const expected =
      'an account name with lower-case letters, digits, - and _, at most 32 characters';
    findings.push({ kind: 'value', path, expected });
  }
  if (path.length > 2 && isBlock(section)) {
    // Ignoring `access: …` at this level would open or close an account against the owner's
    // intention.
    const beside = Object.keys(section).filter((key) => key !== 'accounts');
    for (const key of beside.filter((key) => !(isHosted && key === USE))) {
      const expected = `this key inside each account, not next to \`accounts\``;
      findings.push({ kind: 'value', path: [...path.slice(0, 2), key], expected });
    }
  }
  return findings;
}

function splitCommonSettings(written: Block): [common: object, own: object] {
  const entries = Object.entries(written);
  const isCommon = ([key]: [string, unknown]) => Object.hasOwn(CommonAccountSettings.shape, key);
  return [
    Object.fromEntries(entries.filter(isCommon)),
    Object.fromEntries(entries.filter((entry) => !isCommon(entry))),
  ];
}
