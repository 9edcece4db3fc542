import type { Attack } from './attack.ts';
import { createDrill } from './drill.ts';
import { type DrillScene, startDrillScene } from './drill-scene.ts';
import { type DrillVerdict, judgeDrill } from './judge.ts';
import { runDrill } from './run-drill.ts';

/** How many drills run in parallel; a drill mostly waits. */
const AT_ONCE = 10;

/**
 * Runs attacks against one Parley, several in parallel, each in separate chats. A drill that does
 * not finish is an error among the verdicts, so that the others are still reported.
 */
export async function runDrills(
  attacks: readonly Attack[],
  isCareful: boolean,
): Promise<ReadonlyMap<string, DrillVerdict | Error>> {
  const scene = await startDrillScene(attacks, isCareful);
  const verdicts = new Map<string, DrillVerdict | Error>();
  const waiting = attacks.entries().toArray();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [nth, attack] = next;
      verdicts.set(attack.id, await runForVerdict(scene, attack, nth));
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return verdicts;
  } finally {
    await scene.close();
  }
}

async function runForVerdict(
  scene: DrillScene,
  attack: Attack,
  nth: number,
): Promise<DrillVerdict | Error> {
  try {
    const drill = createDrill(scene, attack, nth);
    await runDrill(drill);
    return judgeDrill(drill);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
