import { data, defineTable, int, renamedFrom } from './table.ts';

/**
 * Tables for people who may write or use the page, and for the accounts that belong to one person.
 */
export const PEOPLE_TABLES = {
  /** Browsers signed in to the page. Only hashes of secrets are stored. */
  page_session: defineTable({
    columns: {
      id: data('not null primary key'),
      hash: data('not null'),
      opened_with: data('not null'),
      user_agent: data('not null'),
      network: data('not null'),
      created_at: int('not null'),
      used_at: int('not null'),
      expires_at: int('not null'),
    },
    kept: 'until it expires',
    notInBackup: 'Revoked access must not be restored.',
  }),
  /**
   * People besides the owner who may use the page and the API. Only hashes of tokens are stored.
   */
  sign_in: defineTable({
    columns: {
      id: data('not null primary key'),
      hash: data('not null unique'),
      name: data('not null unique'),
      role: data('not null'),
      created_at: int('not null'),
      used_at: int(),
    },
    kept: 'people who may use the page, until they are revoked',
    notInBackup: 'Revoked access must not be restored.',
  }),
  /** Strangers who ask for access (F05), stored with only their name. */
  pairing_request: defineTable({
    columns: {
      code: data('not null primary key'),
      channel: data('not null'),
      account: data('not null'),
      sender_id: data('not null'),
      sender_name: data('not null'),
      route: data('not null'),
      expires_at: int('not null'),
      refused: int('not null default 0'),
    },
    unique: ['channel', 'account', 'sender_id'],
    kept: 'until the code expires',
  }),
  /** People who may write (F05). */
  allowed_sender: defineTable({
    columns: {
      channel: data('not null'),
      account: data('not null'),
      sender_id: data('not null'),
      allowed_at: int('not null'),
    },
    key: ['channel', 'account', 'sender_id'],
    kept: 'people; kept',
  }),
  /** Groups in which the agent was seen. */
  seen_group: defineTable({
    columns: {
      channel: data('not null'),
      account: data('not null'),
      chat_id: data('not null'),
      title: data(),
      seen_at: int('not null'),
    },
    key: ['channel', 'account', 'chat_id'],
    kept: { keeps: ['decisions'], at: 'seen_at', isUnsorted: true },
  }),
  /** One person's accounts on several platforms (F13). */
  person_link: defineTable({
    columns: {
      person_id: data('not null primary key'),
      /** Accounts with the same link id belong together. */
      link_id: data('not null'),
      /** 1 if an owner confirmed the link, which gives all of its accounts owner rights. */
      by_owner: int('not null'),
      linked_at: int('not null'),
    },
    indexes: { person_link_members: '(link_id)' },
    kept: 'people; kept',
  }),
  /** Codes for linking accounts (F13). */
  link_code: defineTable({
    columns: {
      code: data('not null primary key'),
      creator_id: renamedFrom('maker_id', 38, data('not null unique')),
      creator_route: renamedFrom('maker_route', 38, data('not null')),
      creator_is_owner: renamedFrom('maker_is_owner', 38, int('not null')),
      /** Null until an account has typed the code. */
      redeemer_id: renamedFrom('typist_id', 38, data()),
      redeemer_route: renamedFrom('typist_route', 38, data()),
      expires_at: int('not null'),
    },
    kept: 'until the code expires',
  }),
};
