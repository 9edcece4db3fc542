import { type ChannelIds, type IdForm, parseId } from '@parley/core';
import { findNearestWord, formatOneOf } from './check.ts';
import {
  type Block,
  getValueAt,
  isBlock,
  type SettingsFinding,
  type SettingsPath,
} from './source.ts';

/** The forms of each channel's ids; undefined if any text may be an id. */
export type IdForms = Readonly<Record<string, ChannelIds | undefined>>;

interface IdLocation {
  readonly path: SettingsPath;
  /** The text as written, even if YAML parses it as a different number. */
  readonly text: string;
}

interface IdContext {
  readonly forms: IdForms;
  /**
   * Returns the digits of a number as they appear in the file; undefined when the value is not a
   * number.
   */
  readonly literal: (path: SettingsPath) => string | undefined;
}

/**
 * Settings with their ids in the form that platform messages use, and findings for ids that can
 * never match.
 */
export interface NormalizedIds {
  readonly value: Block;
  readonly findings: readonly SettingsFinding[];
}

/**
 * Converts all ids in the settings to the form that messages use, before any other check, so that
 * every part of Parley compares the same form (D12). An invalid id stays as written and is reported
 * as a finding. It has no effect, and must not prevent anything else from starting. Pure.
 */
export function normalizeIds(written: Block, facts: IdContext): NormalizedIds {
  const value: Block = structuredClone(written);
  const findings: SettingsFinding[] = [];
  const visit = (
    paths: readonly SettingsPath[],
    read: (place: IdLocation) => IdReadingResult,
  ): void => {
    for (const path of paths) {
      const found = getValueAt(value, path);
      if (typeof found !== 'string' && typeof found !== 'number') continue;
      const text = facts.literal(path) ?? String(found);
      const result = read({ path, text });
      if (result.kind === 'finding') findings.push(requireQuotes(result.finding, found, text));
      else if (result.kind === 'id') setValueAt(value, path, result.id);
    }
  };
  const all = (...pattern: readonly string[]) => listMatchingPaths(value, pattern);
  const { forms } = facts;
  for (const at of [[], ['agents', '*']]) {
    visit(all(...at, 'owners', '*'), (place) => parsePersonId(place, value, forms));
    visit(all(...at, 'approvals', 'approvers', '*'), (place) => parsePersonId(place, value, forms));
    visit(all(...at, 'heartbeat', 'notify'), (place) =>
      place.text.trim().toLowerCase() === 'last'
        ? { kind: 'id', id: 'last' }
        : parsePersonId(place, value, forms),
    );
    normalizeNamedChatIds(all(...at, 'tools', 'message', 'chats', '*'), {
      value,
      findings,
      facts,
      visit,
    });
  }
  visit(all('routes', '*', 'person'), (place) => parsePersonId(place, value, forms));
  visit(all('routes', '*', 'chat'), (place) => parseChatId(place, forms));
  visit(all('routes', '*', 'channel'), (place) => parseChannelId(place, forms));
  visit(all('routes', '*', 'account'), (place) => parseAccountId(place, value, forms));
  visit(all('hooks', '*', 'target'), (place) => parseTargetId(place, value, forms));
  for (const path of all('lanes', 'busy', 'channels', '*')) {
    const result = parseChannelId({ path, text: String(path.at(-1)) }, forms);
    if (result.kind === 'finding') findings.push(result.finding);
  }
  for (const path of [...all('channels', '*'), ...all('channels', '*', 'accounts', '*')]) {
    normalizeAccessIds(path, { value, facts, visit });
  }
  return { value, findings };
}

/**
 * Asks for quotes, because YAML parses `1.2e18` and `0x1F` as numbers, which do not preserve the
 * digits of an id.
 */
function requireQuotes(
  finding: SettingsFinding,
  found: string | number,
  text: string,
): SettingsFinding {
  if (typeof found === 'string' || /^[-+]?\d+$/.test(text)) return finding;
  return { ...finding, expected: `${finding.expected}. Write it in quotes, with all its digits` };
}

type IdReadingResult =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'finding'; readonly finding: SettingsFinding }
  /** The id is already correct as written, or the schemas check it. */
  | { readonly kind: 'as-it-is' };

const AS_IT_IS: IdReadingResult = { kind: 'as-it-is' };

function createNoEffectFinding(
  path: SettingsPath,
  expected: string,
  meant?: string,
): IdReadingResult {
  return { kind: 'finding', finding: { kind: 'no-effect', path, expected, nearest: meant } };
}

/**
 * Splits `channel:id` and lowercases the channel; null when the text has another format, which the
 * schemas report.
 */
function splitChannelAndId(text: string): { readonly channel: string; readonly id: string } | null {
  const [, channel, id] = /^\s*([\p{L}][\w-]*)\s*:\s*(\S.*?)\s*$/su.exec(text) ?? [];
  return channel === undefined || id === undefined ? null : { channel: channel.toLowerCase(), id };
}

function parseIdOfChannel(
  { path, text }: IdLocation,
  forms: IdForms,
  kinds: (ids: ChannelIds) => readonly (IdForm | null)[],
): IdReadingResult {
  const place = splitChannelAndId(text);
  if (place === null) return AS_IT_IS;
  const { channel, id } = place;
  if (!Object.hasOwn(forms, channel)) return createUnknownChannelFinding(path, channel, forms);
  const ids = forms[channel];
  if (ids === undefined) return { kind: 'id', id: `${channel}:${id}` };
  const read = parseId(
    id,
    kinds(ids).filter((form) => form !== null),
  );
  if (read.kind === 'id') return { kind: 'id', id: `${channel}:${read.id}` };
  const meant = read.nearest === undefined ? undefined : `${channel}:${read.nearest}`;
  return createNoEffectFinding(path, `${channel}: followed by ${read.expected}`, meant);
}

function createUnknownChannelFinding(
  path: SettingsPath,
  channel: string,
  forms: IdForms,
): IdReadingResult {
  const names = Object.keys(forms);
  return createNoEffectFinding(
    path,
    `an existing channel: ${formatOneOf(names)}`,
    findNearestWord(channel, names),
  );
}

/** Parses a person's id; API clients count as people: `api:laptop`. */
function parsePersonId(place: IdLocation, value: Block, forms: IdForms): IdReadingResult {
  const split = splitChannelAndId(place.text);
  if (split?.channel !== 'api') return parseIdOfChannel(place, forms, ({ person }) => [person]);
  const clients = getValueAt(value, ['api', 'clients']);
  const names = isBlock(clients) ? Object.keys(clients) : [];
  if (names.includes(split.id)) return { kind: 'id', id: `api:${split.id}` };
  const expected =
    names.length === 0
      ? 'a person on another channel: there is no client in api.clients'
      : formatOneOf(names.map((name) => `api:${name}`));
  const meant = findNearestWord(split.id, names);
  return createNoEffectFinding(
    place.path,
    expected,
    meant === undefined ? undefined : `api:${meant}`,
  );
}

function parseChatId(place: IdLocation, forms: IdForms): IdReadingResult {
  if (splitChannelAndId(place.text)?.channel === 'api') return AS_IT_IS;
  return parseIdOfChannel(place, forms, ({ group, direct }) => [group, direct]);
}

function parseChannelId({ path, text }: IdLocation, forms: IdForms): IdReadingResult {
  const channel = text.trim().toLowerCase();
  if (channel === 'api') return AS_IT_IS;
  if (!Object.hasOwn(forms, channel)) return createUnknownChannelFinding(path, text, forms);
  return channel === text ? AS_IT_IS : { kind: 'id', id: channel };
}

/** Parses an account that the settings define, such as `telegram/helpdesk`. */
function parseAccountId({ path, text }: IdLocation, value: Block, forms: IdForms): IdReadingResult {
  const [channel = '', account = ''] = text.trim().split('/');
  if (channel === 'api') return AS_IT_IS;
  if (!Object.hasOwn(forms, channel)) return createUnknownChannelFinding(path, channel, forms);
  const names = listAccountNames(value, channel);
  // A channel that is not set up yet may be added later.
  if (names.length === 0 || names.includes(account)) return AS_IT_IS;
  const expected = formatOneOf(names.map((name) => `${channel}/${name}`));
  const meant = findNearestWord(account, names);
  return createNoEffectFinding(
    path,
    expected,
    meant === undefined ? undefined : `${channel}/${meant}`,
  );
}

function listAccountNames(value: Block, channel: string): readonly string[] {
  if (channel === 'web' || channel === 'terminal') return ['default'];
  const section = getValueAt(value, ['channels', channel]);
  if (section === undefined) return [];
  const accounts = isBlock(section) ? section.accounts : undefined;
  return isBlock(accounts) ? Object.keys(accounts) : ['default'];
}

/** Parses a target: `last`, a name in tools.message.chats, an owner, or a chat. */
function parseTargetId(place: IdLocation, value: Block, forms: IdForms): IdReadingResult {
  const chats = getValueAt(value, ['tools', 'message', 'chats']);
  const names = ['last', ...(isBlock(chats) ? Object.keys(chats) : [])];
  if (names.includes(place.text)) return AS_IT_IS;
  if (splitChannelAndId(place.text) === null) {
    const expected = `${formatOneOf(names)}, an owner such as telegram:123456789, or a group such as telegram:-1001234567890`;
    return createNoEffectFinding(place.path, expected, findNearestWord(place.text, names));
  }
  return parseIdOfChannel(place, forms, ({ person, group }) => [person, group]);
}

type VisitIdLocations = (
  paths: readonly SettingsPath[],
  read: (place: IdLocation) => IdReadingResult,
) => void;

interface VisitContext {
  readonly value: Block;
  readonly facts: IdContext;
  readonly visit: VisitIdLocations;
}

/** Normalizes the ids in an account's `access`, whose channel is known. */
function normalizeAccessIds(at: SettingsPath, { value, facts, visit }: VisitContext): void {
  const ids = facts.forms[String(at[1])];
  if (ids === undefined || getValueAt(value, [...at, 'enabled']) === false) return;
  const lists = { allow: ids.person, allowGroups: ids.group, allowRoles: ids.role };
  for (const [key, form] of Object.entries(lists)) {
    visit(listMatchingPaths(value, [...at, 'access', key, '*']), ({ path, text }) => {
      const named = splitChannelAndId(text);
      if (named === null || !Object.hasOwn(facts.forms, named.channel)) {
        return parseSingleId(path, text, form, key);
      }
      if (named.channel === at[1]) return parseSingleId(path, named.id, form, key);
      return createNoEffectFinding(
        path,
        `an id on ${at[1]}: this one is for channels.${named.channel}.access`,
      );
    });
  }
}

const THINGS: Readonly<Record<string, string>> = {
  allowGroups: 'groups',
  allowRoles: 'roles',
  thread: 'threads',
};

function parseSingleId(
  path: SettingsPath,
  text: string,
  form: IdForm | null,
  key: string,
): IdReadingResult {
  if (form === null)
    return createNoEffectFinding(path, `nothing here: this channel has no ${THINGS[key] ?? key}`);
  const read = parseId(text, [form]);
  return read.kind === 'id' ? read : createNoEffectFinding(path, read.expected, read.nearest);
}

/** Normalizes the channel, account, chat and thread in each entry in `tools.message.chats`. */
function normalizeNamedChatIds(
  chats: readonly SettingsPath[],
  { value, findings, facts, visit }: VisitContext & { readonly findings: SettingsFinding[] },
): void {
  const { forms } = facts;
  for (const at of chats) {
    visit([[...at, 'channel']], (place) => parseChannelId(place, forms));
    const channel = String(getValueAt(value, [...at, 'channel']));
    if (!Object.hasOwn(forms, channel)) continue;
    const account = getValueAt(value, [...at, 'account']);
    if (typeof account === 'string') {
      const path = [...at, 'account'];
      const result = parseAccountId({ path, text: `${channel}/${account}` }, value, forms);
      if (result.kind === 'finding') findings.push(result.finding);
    }
    const ids = forms[channel];
    if (ids === undefined) continue;
    visit([[...at, 'chat']], ({ path, text }) => {
      const read = parseId(
        text,
        [ids.group, ids.direct].filter((form) => form !== null),
      );
      return read.kind === 'id' ? read : createNoEffectFinding(path, read.expected, read.nearest);
    });
    visit([[...at, 'thread']], ({ path, text }) => parseSingleId(path, text, ids.thread, 'thread'));
  }
}

/** Lists the paths that match a pattern, in which `*` stands for any key or any index in a list. */
function listMatchingPaths(
  root: Block,
  pattern: readonly (string | number)[],
): readonly SettingsPath[] {
  return pattern.reduce<readonly SettingsPath[]>(
    (paths, step) =>
      paths.flatMap((path) => {
        const found = getValueAt(root, path);
        if (typeof found !== 'object' || found === null) return [];
        if (step !== '*') return Object.hasOwn(found, step) ? [[...path, step]] : [];
        if (Array.isArray(found)) return found.map((_, nth) => [...path, nth]);
        return Object.keys(found).map((key) => [...path, key]);
      }),
    [[]],
  );
}

function setValueAt(root: Block, path: SettingsPath, value: string): void {
  const container = getValueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof container !== 'object' || container === null || last === undefined) return;
  Reflect.set(container, last, value);
}
