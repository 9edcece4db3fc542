import type { Trait } from './peer.ts';
import type { Scene } from './scene.ts';

/** One row of the table: what must hold on every platform that can do it. */
export interface Behaviour {
  /** SPEC ids and a sentence. */
  readonly title: string;
  /** Without these the platform cannot even be asked. */
  readonly needs?: readonly Trait[];
  run(scene: Scene): Promise<void>;
}
