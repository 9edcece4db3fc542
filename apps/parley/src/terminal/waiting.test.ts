import { describe, expect, it } from 'vitest';
import {
  applyWaitingChange,
  formatStatusLine,
  IDLE,
  isWaiting,
  type WaitingChange,
} from './waiting.ts';

describe('the waiting state in the terminal', () => {
  const after = (...changes: WaitingChange[]) => changes.reduce(applyWaitingChange, IDLE);
  const sending: WaitingChange = { type: 'sending' };
  const accepted: WaitingChange = { type: 'sent', kind: 'accepted' };
  const typing: WaitingChange = { type: 'typing' };
  const part = (turnId: string | null): WaitingChange => ({
    type: 'part',
    partId: 'p',
    turnId,
    text: 'x',
  });
  const linked = (outcome: string | null): WaitingChange => ({
    type: 'linked',
    history: [{ type: 'inbound', messageId: 'm', outcome, turnId: null }],
  });

  describe('changes of the waiting state', () => {
    it.each<[string, WaitingChange[], string]>([
      ['nothing', [], ''],
      ['a message in transit', [sending], 'sending'],
      ['an answer', [sending, accepted], 'thinking'],
      [
        'an answer to a message that was accepted before',
        [sending, { type: 'sent', kind: 'duplicate' }],
        'thinking',
      ],
      ['work that another person requested', [typing], 'thinking'],
      ['a gateway that is away', [sending, { type: 'lost' }], 'unreachable'],
      ['an answer that was started before a restart', [{ type: 'lost' }, linked(null)], 'thinking'],
      ['an answer while a command was answered', [accepted, part(null)], 'thinking'],
    ])('[F12] shows the waiting state for %s', (_what, changes, status) => {
      expect(formatStatusLine(after(...changes))).toContain(status);
    });

    it.each<[string, WaitingChange[]]>([
      ['the answer has arrived', [sending, accepted, typing, part('t')]],
      [
        'the turn ends silently or is stopped',
        [sending, accepted, typing, { type: 'stream-end', turnId: 't' }],
      ],
      ['the message is refused', [sending, { type: 'sent', kind: 'refused' }]],
      ['it cannot be sent', [sending, { type: 'sent', kind: 'failed' }]],
      ['it was a command', [sending, { type: 'sent', kind: 'command' }]],
      ['typing is no longer reported', [typing, { type: 'typing-faded' }]],
      [
        'it was answered while the gateway could not be reached',
        [accepted, { type: 'lost' }, linked('answered')],
      ],
    ])('[F12] always ends: %s', (_what, changes) => {
      const waiting = after(...changes);
      expect([formatStatusLine(waiting), isWaiting(waiting)]).toEqual(['', false]);
    });
  });
});
