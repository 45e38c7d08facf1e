// Generated from openapi/payment-service.yaml by `pnpm generate`. Do not edit.

export interface paths {
    "/data/payment-providers": {
        /**
         * List payment options
         * @description Call it before any transaction request to learn the options available to the merchant. Whether the two filters are required is not shown; every request shown sends both.
         */
        get: operations["listPaymentProviders"];
    };
    "/data/payout-bank-codes": {
        /**
         * List payout banks
         * @description The banks that a provider with BANK payouts supports.
         */
        get: operations["listPayoutBanks"];
    };
    "/data/wallet-balances": {
        /**
         * Balance inquiry
         * @description The wallets of the merchant account: one element for each currency wallet. The sample shows one MERCHANT_COLLECTION and one MERCHANT_PAYOUT wallet for a currency. Whether a currency can have several wallets of one type is not shown, and neither is the unit of the balances.
         */
        get: operations["getWalletBalances"];
    };
}
export interface webhooks {
    transactionCallback: {
        /**
         * Transaction callback
         * @description Carries a transaction outcome in an HTTP request with the header `hmac-signature`. Retries, and the answer that the receiver must give, are not shown.
         */
        post: operations["transactionCallback"];
    };
    transactionRedirect: {
        /**
         * Transaction redirect
         * @description The customer's browser comes back to the merchant with the transaction data in the query, under the same signature as the callback. Only the name `hmac_signature` is shown; how the query spells the other fields is not. GET is what a browser sends when it follows a redirect. The customer sees this URL and can send it again.
         */
        get: operations["transactionRedirect"];
    };
}
export interface components {
    schemas: {
        /** @description Currency code, in the style of ISO 4217. */
        CurrencyCode: string;
        /** @description Other values are not shown. */
        TransactionType: "COLLECTION" | (string & {});
        /** @description The state of a transaction. The full list, and the transitions, are not shown. */
        TransactionStatus: "COMPLETED" | (string & {});
        PaymentProvider: {
            /** @description Display name of the provider. */
            provider_name: string;
            /** @description Provider identifier. */
            provider_code: string;
            /** @description Method code. */
            transaction_method: "MOBILE_MONEY" | (string & {});
            /** @description Display name of the method. */
            transaction_method_name: string;
            /** @description Mixed case here; the request filter uses upper case. */
            transaction_type: "Collection" | (string & {});
            transaction_currency: components["schemas"]["CurrencyCode"];
            /** @description Minimum transaction amount. The sample limits are whole units of a currency without minor units; the unit in other currencies is not shown. */
            min_amount: number;
            /** @description Maximum amount per transaction. */
            max_amount: number;
            /** @description Maximum total amount per day. */
            max_daily_amount: number;
            /** @description Whether the option is active. */
            is_active: boolean;
            /** @description Account-number prefixes that identify the option. */
            option_prefixes: string[];
        };
        PayoutBank: {
            /** @description Unique code of the bank; required in bank payout requests. */
            bank_code: string;
            /** @description Name of the bank. */
            bank_name: string;
            /** @description Whether the bank is active for use. */
            is_active: boolean;
        };
        Wallet: {
            currency: components["schemas"]["CurrencyCode"];
            /** @description MERCHANT_COLLECTION holds collected and directly deposited funds; MERCHANT_PAYOUT holds funds for disbursements. */
            wallet_type: "MERCHANT_COLLECTION" | "MERCHANT_PAYOUT" | (string & {});
            /** @description Available for any other operation. */
            available_balance: number;
            /** @description The sum of all the balances in the wallet. */
            actual_balance: number;
            /** @description Not yet made available for use. */
            uncleared_balance: number;
            /** @description Accumulated rolling reserve. */
            reserve_balance: number;
        };
        ErrorEnvelope: {
            /** @description Equals the HTTP status code. */
            code: number;
            status: "error" | (string & {});
            /** @description Human-readable text. */
            message: string;
            /** @description Empty on the error shown. */
            data: {
                [key: string]: unknown;
            };
        };
        TransactionCallback: {
            /** @description Signed. Other event names are not shown. */
            event: "transaction.completed" | (string & {});
            payload: components["schemas"]["TransactionPayload"];
        };
        TransactionPayload: {
            /** @description Not signed. */
            id: number;
            /** @description Signed. The merchant's own reference. */
            merchant_reference: string;
            /** @description Signed. The service's reference. */
            internal_reference: string;
            /** @description Signed. */
            transaction_type: components["schemas"]["TransactionType"];
            /** @description Not signed. */
            request_currency: components["schemas"]["CurrencyCode"];
            /** @description Not signed. The unit is not shown. */
            request_amount: number;
            /** @description Not signed. */
            transaction_currency: components["schemas"]["CurrencyCode"];
            /** @description Not signed. The unit is not shown. */
            transaction_amount: number;
            /** @description Not signed. */
            transaction_charge: number;
            /** @description Not signed. Account or mobile number. */
            transaction_account: string;
            /** @description Not signed. */
            customer_name: string;
            /** @description Not signed. Cases other than false are not shown. */
            charge_customer: boolean;
            /** @description Not signed. In the data shown, transaction_amount minus transaction_charge, with charge_customer false. */
            total_credit: number;
            /** @description Not signed. The full set of values is not shown. */
            provider_code: string;
            /** @description Signed. */
            transaction_status: components["schemas"]["TransactionStatus"];
            /** @description Not signed. */
            status_message: string;
        };
    };
    responses: {
        /** @description Other statuses are not shown, and neither are their bodies. Such an answer may carry the error envelope; a client must accept one that does not. */
        Error: {
            content: {
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
    };
    parameters: {
        /**
         * @description Sent with value 1 on every request shown. Other versions, and the behaviour without the header, are not shown.
         * @example 1
         */
        ApiVersion: "1" | (string & {});
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listPaymentProviders: {
        parameters: {
            query?: {
                /**
                 * @description Currency code; keeps the options of that currency.
                 * @example UGX
                 */
                currency?: components["schemas"]["CurrencyCode"];
                /**
                 * @description Keeps the options of that transaction type. The request uses upper case.
                 * @example COLLECTION
                 */
                transaction_type?: components["schemas"]["TransactionType"];
            };
            header?: {
                /**
                 * @description Sent with value 1 on every request shown. Other versions, and the behaviour without the header, are not shown.
                 * @example 1
                 */
                "x-api-version"?: components["parameters"]["ApiVersion"];
            };
        };
        responses: {
            /** @description The payment options. */
            200: {
                content: {
                    /**
                     * @example {
                     *       "code": 200,
                     *       "status": "success",
                     *       "message": "Request completed successfully",
                     *       "data": {
                     *         "payment_providers": [
                     *           {
                     *             "provider_name": "Example Mobile Money",
                     *             "provider_code": "example_mobile_money",
                     *             "transaction_method": "MOBILE_MONEY",
                     *             "transaction_method_name": "Mobile Money",
                     *             "transaction_type": "Collection",
                     *             "transaction_currency": "UGX",
                     *             "min_amount": 500,
                     *             "max_amount": 5000000,
                     *             "max_daily_amount": 20000000,
                     *             "is_active": true,
                     *             "option_prefixes": [
                     *               "25677",
                     *               "25678"
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Equals the HTTP status code. */
                        code: number;
                        status: "success" | (string & {});
                        /** @description Human-readable text. */
                        message: string;
                        data: {
                            payment_providers: components["schemas"]["PaymentProvider"][];
                        };
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    listPayoutBanks: {
        parameters: {
            query: {
                /**
                 * @description Code of the provider whose banks are listed, from the payment options.
                 * @example example_bank
                 */
                provider_code: string;
            };
            header?: {
                /**
                 * @description Sent with value 1 on every request shown. Other versions, and the behaviour without the header, are not shown.
                 * @example 1
                 */
                "x-api-version"?: components["parameters"]["ApiVersion"];
            };
        };
        responses: {
            /** @description The banks of the provider. */
            200: {
                content: {
                    /**
                     * @example {
                     *       "code": 200,
                     *       "status": "success",
                     *       "message": "Request completed successfully",
                     *       "data": {
                     *         "payout_banks": [
                     *           {
                     *             "bank_code": "EX001",
                     *             "bank_name": "Example Bank",
                     *             "is_active": true
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Equals the HTTP status code. */
                        code: number;
                        status: "success" | (string & {});
                        /** @description Human-readable text. */
                        message: string;
                        data: {
                            payout_banks: components["schemas"]["PayoutBank"][];
                        };
                    };
                };
            };
            /** @description The request is not formed as expected; shown for a missing `provider_code`. */
            400: {
                content: {
                    /**
                     * @example {
                     *       "code": 400,
                     *       "status": "error",
                     *       "message": "provider_code is required",
                     *       "data": {}
                     *     }
                     */
                    "application/json": components["schemas"]["ErrorEnvelope"];
                };
            };
            default: components["responses"]["Error"];
        };
    };
    getWalletBalances: {
        parameters: {
            query?: {
                /**
                 * @description Restricts the result to the wallets of that currency.
                 * @example UGX
                 */
                currency?: components["schemas"]["CurrencyCode"];
            };
            header?: {
                /**
                 * @description Sent with value 1 on every request shown. Other versions, and the behaviour without the header, are not shown.
                 * @example 1
                 */
                "x-api-version"?: components["parameters"]["ApiVersion"];
            };
        };
        responses: {
            /** @description The wallets. */
            200: {
                content: {
                    /**
                     * @example {
                     *       "code": 200,
                     *       "status": "success",
                     *       "message": "Request completed successfully",
                     *       "data": {
                     *         "merchant_wallets": [
                     *           {
                     *             "currency": "UGX",
                     *             "wallet_type": "MERCHANT_COLLECTION",
                     *             "available_balance": 120000,
                     *             "actual_balance": 150000,
                     *             "uncleared_balance": 20000,
                     *             "reserve_balance": 10000
                     *           },
                     *           {
                     *             "currency": "UGX",
                     *             "wallet_type": "MERCHANT_PAYOUT",
                     *             "available_balance": 50000,
                     *             "actual_balance": 50000,
                     *             "uncleared_balance": 0,
                     *             "reserve_balance": 0
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Equals the HTTP status code. */
                        code: number;
                        status: "success" | (string & {});
                        /** @description Human-readable text. */
                        message: string;
                        data: {
                            merchant_wallets: components["schemas"]["Wallet"][];
                        };
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    transactionCallback: {
        parameters: {
            header: {
                /**
                 * @description `t=<timestamp>,s=<hmac_hash>`. The unit of t is not shown, and t is not signed. The signing key of the example is EXAMPLESIGNINGKEY.
                 * @example t=1700000000,s=34545960ef04a04bce08b22cbc42f54893870f826a6b5b7bcd434a77a8259e83
                 */
                "hmac-signature": string;
            };
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "event": "transaction.completed",
                 *       "payload": {
                 *         "id": 1001,
                 *         "merchant_reference": "ORD-1001",
                 *         "internal_reference": "INT-77",
                 *         "transaction_type": "COLLECTION",
                 *         "request_currency": "UGX",
                 *         "request_amount": 500,
                 *         "transaction_currency": "UGX",
                 *         "transaction_amount": 500,
                 *         "transaction_charge": 15,
                 *         "transaction_account": "256772000001",
                 *         "customer_name": "Example Customer",
                 *         "charge_customer": false,
                 *         "total_credit": 485,
                 *         "provider_code": "example_mobile_money",
                 *         "transaction_status": "COMPLETED",
                 *         "status_message": "Transaction completed successfully"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["TransactionCallback"];
            };
        };
        responses: {
            /** @description The answer that the receiver must give is not shown. */
            default: {
            };
        };
    };
    transactionRedirect: {
        parameters: {
            query: {
                /**
                 * @description `t=<timestamp>,s=<hmac_hash>`, as in the header of the callback. The signing key of the example is EXAMPLESIGNINGKEY.
                 * @example t=1700000000,s=34545960ef04a04bce08b22cbc42f54893870f826a6b5b7bcd434a77a8259e83
                 */
                hmac_signature: string;
            };
        };
        responses: {
            /** @description The answer goes to the customer's browser; the merchant chooses it. */
            default: {
            };
        };
    };
}
