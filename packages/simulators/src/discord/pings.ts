import { parseDiscordMarkdown } from './parse-markdown.ts';

/** Everyone whom a message notifies. */
export interface Pings {
  readonly everyone: boolean;
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** The author of the message it answers is notified. */
  readonly repliedUser: boolean;
}

/** The mentions that the sender allows to notify; `parse` names kinds, the lists single users and roles. */
export interface AllowedMentions {
  readonly parse?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly replied_user?: boolean | undefined;
}

/**
 * Whom a text notifies. Without `allowed` everything in it does, and so does the reply; with it only
 * what it names. Mentions in code notify nobody.
 */
export function findPings(
  content: string,
  allowed: AllowedMentions | undefined,
  mayPingEveryone: boolean,
): Pings {
  const { live } = parseDiscordMarkdown(content);
  const kinds = new Set(allowed?.parse ?? (allowed === undefined ? ALL : []));
  const ids = (kind: 'user' | 'role') => [
    ...new Set(live.flatMap((node) => (node.kind === kind ? (node.text.match(/\d+/) ?? []) : []))),
  ];
  const permitted = (kind: 'users' | 'roles') => (id: string) =>
    kinds.has(kind) || (allowed?.[kind]?.includes(id) ?? false);
  return {
    everyone:
      mayPingEveryone &&
      kinds.has('everyone') &&
      live.some(({ kind }) => kind === 'everyone' || kind === 'here'),
    users: ids('user').filter(permitted('users')),
    roles: ids('role').filter(permitted('roles')),
    repliedUser: allowed?.replied_user ?? allowed === undefined,
  };
}

const ALL = ['everyone', 'users', 'roles'];
