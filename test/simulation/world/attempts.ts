import type { ChannelFailure, OutboundPart } from '@parley/core';

/** One connection of one adapter to the platform; a restart of the process creates another. */
export interface AdapterLife {
  readonly number: number;
  readonly account: string;
  /** The name of the simulated process. */
  readonly process: string;
}

/** One call of an adapter's `send`. */
export interface SendAttempt {
  readonly part: OutboundPart;
  readonly life: AdapterLife;
  readonly at: number;
  /** When the platform accepted the part; undefined when it never arrived or was refused. */
  takenAt: number | undefined;
  /** The result that the sending process received; `nothing` includes a killed process. */
  heard: 'nothing' | 'receipt' | ChannelFailure['kind'];
}

/** A request to the platform other than a send. */
export interface PlatformTouch {
  readonly what: 'poll' | 'preview' | 'send';
  readonly life: AdapterLife;
  readonly at: number;
}

/** All calls of adapters to a platform, in order. */
export class PlatformAttempts {
  readonly all: SendAttempt[] = [];
  readonly touches: PlatformTouch[] = [];
  /** All attempts of each part, by its id. */
  readonly ofPart = new Map<string, SendAttempt[]>();

  begin(part: OutboundPart, life: AdapterLife, at: number): SendAttempt {
    const attempt: SendAttempt = { part, life, at, takenAt: undefined, heard: 'nothing' };
    this.all.push(attempt);
    this.ofPart.set(part.id, [...(this.ofPart.get(part.id) ?? []), attempt]);
    this.touch('send', life, at);
    return attempt;
  }

  touch(what: PlatformTouch['what'], life: AdapterLife, at: number): void {
    this.touches.push({ what, life, at });
  }
}
