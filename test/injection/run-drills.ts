import type { Attack } from './attack.ts';
import { drillOf } from './drill.ts';
import { type DrillScene, startDrillScene } from './drill-scene.ts';
import { judge, type Verdict } from './judge.ts';
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
): Promise<ReadonlyMap<string, Verdict | Error>> {
  const scene = await startDrillScene(attacks, isCareful);
  const verdicts = new Map<string, Verdict | Error>();
  const waiting = attacks.entries().toArray();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [nth, attack] = next;
      verdicts.set(attack.id, await verdictOf(scene, attack, nth));
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return verdicts;
  } finally {
    await scene.close();
  }
}

async function verdictOf(scene: DrillScene, attack: Attack, nth: number): Promise<Verdict | Error> {
  try {
    const drill = drillOf(scene, attack, nth);
    await runDrill(drill);
    return judge(drill);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
