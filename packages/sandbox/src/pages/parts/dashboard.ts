import type { Service } from '../../service/service.ts';
import type { SandboxAccount } from '../../state/account.ts';

/** What every page of the dashboard is made from. */
export interface Dashboard {
  readonly service: Service;
  readonly account: SandboxAccount;
}
