import type { AuthenticationState, UserFacingSocketConfig } from '@whiskeysockets/baileys';
import { onTestFinished } from 'vitest';
import { BaileysClient, linkedAuth } from './baileys-client.ts';
import { hushLibsignal } from './hush-libsignal.ts';
import {
  startWhatsAppDouble,
  type WhatsAppDouble,
  type WhatsAppDoubleOptions,
} from './whatsapp-double.ts';

/** A double for one test, and clients on it; all of it ends with the test. */
export interface Scene {
  readonly double: WhatsAppDouble;
  /** Credentials that the double takes as linked. */
  readonly auth: AuthenticationState;
  /** Another client, with other credentials or settings. */
  connect(options?: Partial<UserFacingSocketConfig>): BaileysClient;
}

/** Starts a double; `connect()` gives a client that is linked already. */
export async function startScene(options: WhatsAppDoubleOptions = {}): Promise<Scene> {
  const unhush = hushLibsignal();
  const double = await startWhatsAppDouble(options);
  const clients: BaileysClient[] = [];
  onTestFinished(async () => {
    for (const client of clients) await client.end();
    await double.close();
    unhush();
  });
  const auth = linkedAuth(double);
  return {
    double,
    auth,
    connect: (config = {}) => {
      const client = new BaileysClient(double, { auth, ...config });
      clients.push(client);
      return client;
    },
  };
}

/** The same, with a client whose connection is open. */
export async function startOpenScene(
  config: Partial<UserFacingSocketConfig> = {},
): Promise<Scene & { readonly client: BaileysClient }> {
  const scene = await startScene();
  const client = scene.connect(config);
  await client.opened();
  return { ...scene, client };
}
