/**
 * What one step of the simulation changed in the tables. The chat of a part is its conversation on
 * the platform: channel, account and chat id.
 */
export type TableChange =
  | { readonly kind: 'accepted'; readonly conversation: string; readonly message: number }
  | {
      readonly kind: 'message';
      readonly conversation: string;
      readonly message: number;
      readonly from: string;
      /** The state of the row; `removed` when the row no longer exists. */
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
      /** Null when the turn has just started. */
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
      /** Null when the part has just been stored. */
      readonly from: string | null;
      readonly to: string;
    }
  /**
   * The holder of a named lease, such as that of a channel account. `until` is in ms since 1970 by
   * the database's clock.
   */
  | {
      readonly kind: 'lease';
      readonly name: string;
      readonly holder: string | null;
      readonly until: number;
    }
  | { readonly kind: 'dead-letter'; readonly id: number; readonly of: string }
  /**
   * The database was rolled back to its last synced state or to an older copy. A rollback is always
   * the first change of its step.
   */
  | { readonly kind: 'rewound'; readonly by: 'power-cut' | 'older-copy' }
  /** Not a table change: the platform accepted a part or shows a message to people. */
  | {
      readonly kind: 'sent';
      readonly part: string;
      readonly key: string | null;
      readonly chat: string;
    };

/**
 * One event of a process, or of the world (`process` is `world`), and the changes it made. `at` is
 * in virtual ms.
 */
export interface TraceStep {
  readonly at: number;
  readonly process: string;
  readonly changes: readonly TableChange[];
}
