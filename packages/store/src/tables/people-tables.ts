import type { Generated } from 'kysely';

/** Strangers who wait to be let in; `route` is JSON. */
export interface PairingRequestTable {
  code: string;
  channel: string;
  account: string;
  sender_id: string;
  sender_name: string;
  route: string;
  expires_at: number;
}

/** Strangers who were let in for good. */
export interface LetInTable {
  channel: string;
  account: string;
  sender_id: string;
  let_in_at: number;
}

/** Accounts of one person; those with the same `link_id` belong together. */
export interface PersonLinkTable {
  person_id: string;
  link_id: string;
  /** 1: an owner confirmed it, so its members may do what an owner may. */
  by_owner: number;
  linked_at: number;
}

/** Codes of `/link` that are still valid; the routes are JSON, the typist is null until somebody typed it. */
export interface LinkCodeTable {
  code: string;
  maker_id: string;
  maker_route: string;
  maker_is_owner: number;
  typist_id: Generated<string | null>;
  typist_route: Generated<string | null>;
  expires_at: number;
}

/** Who was let in, and which accounts are one person. */
export interface PeopleTables {
  pairing_request: PairingRequestTable;
  let_in: LetInTable;
  person_link: PersonLinkTable;
  link_code: LinkCodeTable;
}
