import type { ApiCall, ApiFault, ApiServer } from './api-server.ts';
import { type DeliveryPolicy, WebhookDeliveries } from './deliveries.ts';

/** What all doubles have in common: an API that records calls and injects faults, and webhooks. */
export abstract class PlatformDouble {
  protected abstract readonly api: ApiServer;
  protected root = '';
  readonly #webhooks: WebhookDeliveries[] = [];

  async start(): Promise<this> {
    this.root = await this.api.listen();
    return this;
  }

  get apiUrl(): string {
    return this.root;
  }

  get calls(): readonly ApiCall[] {
    return this.api.calls;
  }

  fault(fault: ApiFault): void {
    this.api.fault(fault);
  }

  dropConnections(): void {
    this.api.dropConnections();
  }

  waitFor<T>(look: () => T | undefined | false, timeoutMs = 30_000): Promise<T> {
    return this.api.changes.waitFor(look, timeoutMs);
  }

  async close(): Promise<void> {
    for (const webhook of this.#webhooks) webhook.close();
    await this.api.close();
  }

  /** Creates a webhook, which is closed with the double. */
  protected addWebhook(policy: Omit<DeliveryPolicy, 'changed'>): WebhookDeliveries {
    const changed = () => this.api.changes.changed();
    const webhook = new WebhookDeliveries({ ...policy, changed });
    this.#webhooks.push(webhook);
    return webhook;
  }
}
