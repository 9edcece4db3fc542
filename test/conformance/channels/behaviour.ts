import type { PlatformTrait } from './peer.ts';
import type { ChannelScene } from './scene.ts';

/** One row of the conformance table: a behavior required on every platform that supports it. */
export interface ChannelBehavior {
  /** The ids in SPEC.md and a description. */
  readonly title: string;
  /** A platform without these abilities skips the row. */
  readonly needs?: readonly PlatformTrait[];
  /**
   * Set if channels only transport the text, so that testing one channel is enough in a normal run.
   */
  readonly isSameEverywhere?: boolean;
  run(scene: ChannelScene): Promise<void>;
}
