import type { Trait } from './peer.ts';
import type { Scene } from './scene.ts';

/** One row of the table: what must hold on every platform that can do it. */
export interface Behaviour {
  /** SPEC ids and a sentence. */
  readonly title: string;
  /** Without these the platform cannot even be asked. */
  readonly needs?: readonly Trait[];
  /** The channel has no part in it but to bring words and take them: on a change one channel is enough. */
  readonly isSameEverywhere?: boolean;
  run(scene: Scene): Promise<void>;
}
