import type { ChatEvent, ChatHistory } from './gateway-client.ts';

export interface WaitingState {
  /** The number of messages that the gateway has not confirmed yet. */
  readonly sending: number;
  /** Whether a message was accepted and its turn is still running. */
  readonly asked: boolean;
  /** Whether the agent is working; the state expires unless the gateway repeats it. */
  readonly typing: boolean;
  readonly linked: boolean;
}

export type WaitingChange =
  | { readonly type: 'sending' }
  /** `kind` is the outcome that the gateway reports, or `failed`. */
  | { readonly type: 'sent'; readonly kind: string }
  | { readonly type: 'linked'; readonly history: ChatHistory }
  | { readonly type: 'lost' }
  | { readonly type: 'typing-faded' }
  | ChatEvent;

export const IDLE: WaitingState = { sending: 0, asked: false, typing: false, linked: true };

/** Returns the waiting state after a change. Every waiting state eventually ends (F12). */
export function applyWaitingChange(now: WaitingState, change: WaitingChange): WaitingState {
  switch (change.type) {
    case 'sending':
      return { ...now, sending: now.sending + 1 };
    case 'sent': {
      const asked = now.asked || change.kind === 'accepted' || change.kind === 'duplicate';
      return { ...now, sending: Math.max(0, now.sending - 1), asked };
    }
    case 'linked':
      return { ...now, linked: true, typing: false, asked: hasUnansweredMessage(change.history) };
    case 'lost':
      return { ...now, linked: false, typing: false };
    case 'typing':
      return { ...now, typing: true };
    case 'part':
      // The reply to a command does not end a turn.
      return change.turnId === null ? now : { ...now, asked: false, typing: false };
    case 'stream-end':
      return { ...now, asked: false, typing: false };
    case 'typing-faded':
      return { ...now, typing: false };
    case 'stream':
    case 'inbound':
      return now;
  }
}

export function isWaiting({ asked, typing }: WaitingState): boolean {
  return asked || typing;
}

/** Returns the status line; '' when nothing is pending. */
export function formatStatusLine(now: WaitingState): string {
  if (!now.linked) return '… the gateway is unreachable; your messages are sent when it is back';
  if (isWaiting(now)) return '… thinking (Ctrl-C stops)';
  return now.sending > 0 ? '… sending' : '';
}

function hasUnansweredMessage(history: ChatHistory): boolean {
  return history.some((entry) => entry.type === 'inbound' && entry.outcome === null);
}
