import { enableCompileCache } from 'node:module';

/** The ms since the program started, and the ms of the last step alone. */
interface ColdTimes {
  readonly wholeMs: number;
  readonly promptMs: number;
}

enableCompileCache();

process.on('message', async ({ folder }: { readonly folder: string }) => {
  try {
    process.send?.({ result: await timeColdPrompt(folder) });
  } catch (error) {
    process.send?.({ failure: error instanceof Error ? error.message : String(error) });
  }
});

/** Loads everything that a prompt needs and builds the first one. */
async function timeColdPrompt(folder: string): Promise<ColdTimes> {
  const started = performance.now();
  const { openPromptScene } = await import('./prompt-scene.ts');
  const scene = await openPromptScene(folder, 'parley');
  const { untilAskedMs } = await scene.turn();
  const wholeMs = performance.now() - started;
  await scene.close();
  return { wholeMs, promptMs: untilAskedMs };
}
