import type { Trait } from './peer.ts';
import type { Scene } from './scene.ts';

/** One row of the table: a behavior required on every platform that supports it. */
export interface Behaviour {
  /** SPEC ids and a sentence. */
  readonly title: string;
  /** Abilities without which the row does not apply to a platform. */
  readonly needs?: readonly Trait[];
  /**
   * Set if the channel only transports the text, so that on a change it suffices to test one
   * channel.
   */
  readonly isSameEverywhere?: boolean;
  run(scene: Scene): Promise<void>;
}
