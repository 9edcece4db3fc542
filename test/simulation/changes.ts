/**
 * What one step of the simulation changed in the tables. The chat of a part is its conversation on the platform:
 * channel, account and chat id.
 */
export type Change =
  | { readonly kind: 'accepted'; readonly conversation: string; readonly message: number }
  | {
      readonly kind: 'message';
      readonly conversation: string;
      readonly message: number;
      readonly from: string;
      /** The state of the row; `removed` where there is none any more. */
      readonly to: string;
      readonly turn: string | null;
    }
  | {
      readonly kind: 'lane';
      readonly conversation: string;
      readonly epoch: number;
      readonly holder: string | null;
      readonly until: number;
    }
  | {
      readonly kind: 'turn';
      readonly conversation: string;
      readonly turn: string;
      /** Null where the turn has just begun. */
      readonly from: string | null;
      readonly to: string;
      readonly attempts: number;
    }
  | {
      readonly kind: 'part';
      readonly part: string;
      readonly chat: string;
      readonly order: number;
      readonly turn: string | null;
      /** Null where the part has just been stored. */
      readonly from: string | null;
      readonly to: string;
    }
  /** Who holds a name, among them those of channel accounts. `until` by the database's clock, in ms since 1970. */
  | {
      readonly kind: 'lease';
      readonly name: string;
      readonly holder: string | null;
      readonly until: number;
    }
  | { readonly kind: 'dead-letter'; readonly id: number; readonly of: string }
  /** The database went back: to what was synced, or to an older copy. The first change of its step. */
  | { readonly kind: 'rewound'; readonly by: 'power-cut' | 'older-copy' }
  /** Not of a table: the platform has taken a part, or shows a message to people. */
  | {
      readonly kind: 'sent';
      readonly part: string;
      readonly key: string | null;
      readonly chat: string;
    };

/** One event of a process, or of the world (`process` is `world`), and what it changed. `at` in virtual ms. */
export interface Step {
  readonly at: number;
  readonly process: string;
  readonly changes: readonly Change[];
}
