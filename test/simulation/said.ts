import type { InboundMessage } from '@parley/core';

/** Where a person writes, and who it is. */
export type Place = Pick<InboundMessage, 'chat' | 'sender' | 'addressed'>;

/** Something that a person has written. */
export interface Said {
  readonly platform: string;
  readonly text: string;
  readonly chat: string;
  readonly by: string;
}
