import { parseDiscordMarkdown } from './parse-markdown.ts';

/** The users whom a message notifies. */
export interface Pings {
  readonly everyone: boolean;
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** Whether the author of the quoted message is notified. */
  readonly repliedUser: boolean;
}

/** Which mentions may notify; `parse` names kinds, the lists name individual users and roles. */
export interface AllowedMentions {
  readonly parse?: readonly string[] | undefined;
  readonly users?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly replied_user?: boolean | undefined;
}

/**
 * Computes the users whom a text notifies. Without `allowed`, everyone mentioned and the author of
 * the quoted message are notified; otherwise only those allowed. Mentions inside code do not notify
 * anyone.
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
